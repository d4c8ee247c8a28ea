"""
Carry a decision away, and run it
=================================

A decision leaves the library as source code: in Python it imports nothing but ``math``, in C it needs no memory but the
stack. Both say what the library says.
"""

import ctypes
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from baconlogic import Tree, export, plot

tree = Tree.parse(
    """
    grant = HC(
        income[0 at 1500, 1 at 4000, missing 0.2]: 0.6,
        SD(age[half at 30, slope 0.2], savings[0 at 0, 1 at 50000, missing 0.3]): 0.4
    )
    """
)
rng = np.random.default_rng(0)
rows = {
    "income": np.where(rng.random(1000) < 0.1, math.nan, rng.normal(3000, 900, 1000)),
    "age": rng.uniform(18, 80, 1000),
    "savings": rng.exponential(15_000, 1000),
}
truths = tree.evaluate(rows)
plot.tree(tree)
plt.show()

# %%
# Python: a module as text. What comes before ``truth`` reads rows and refuses what has no answer.

source = export.to_python(tree)
print(source[source.index("def truth") :])

# %%

module = {}
exec(source, module)  # noqa: S102
said = [module["truth"]({name: values[i] for name, values in rows.items()}) for i in range(1000)]
print(f"largest difference over 1000 rows: {np.abs(np.array(said) - truths).max():.0e}")

# %%
# C: a header and a source.

files = export.to_c(tree, name="credit")
print(files.header)

# %%
# Where there is a compiler, it is compiled and called from here.


class Input(ctypes.Structure):
    """The struct of the header."""

    _fields_ = [(name, ctypes.c_double) for name in ("income", "age", "savings")]


compiler = shutil.which("cc") or shutil.which("gcc")
if compiler:
    folder = Path(tempfile.mkdtemp())
    (folder / "credit.h").write_text(files.header, encoding="utf-8")
    (folder / "credit.c").write_text(files.source, encoding="utf-8")
    library = folder / "credit.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, folder / "credit.c", "-lm"], check=True)  # noqa: S603
    truth = ctypes.CDLL(str(library)).credit_truth
    truth.restype = ctypes.c_double
    inputs = [Input(*(rows[name][i] for name, _ in Input._fields_)) for i in range(1000)]
    said = [truth(ctypes.byref(each)) for each in inputs]
    print(f"largest difference over 1000 rows: {np.abs(np.array(said) - truths).max():.0e}")
    shutil.rmtree(folder)
else:
    print("no C compiler is here")
