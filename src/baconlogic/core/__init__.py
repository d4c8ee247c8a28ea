"""What a decision is: truths, criteria, gates, trees, files. Needs numpy alone. Here: names of the arrays in use."""

import numpy as np
from numpy.typing import NDArray

__version__ = "0.1.0"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
