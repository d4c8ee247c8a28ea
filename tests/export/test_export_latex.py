"""The formulas in LaTeX: what they say, that they give the truth, and that LaTeX can set them."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from export_cases import random_model
from hostile_names import NAMES

from baconlogic import Decision, Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.core.levels import LEVELS
from baconlogic.export._latex import escaped, to_latex

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


def formulas(text):
    """Return the right side of each equation by its left side, lines joined."""
    found = {}
    for block in re.findall(r"\\begin{align\*}\n(.*?)\n\\end{align\*}", text, re.DOTALL):
        left, right = block.replace("\\\\\n&\\quad ", "").split(" &= ", 1)
        found[left] = right
    return found


def value(formula, known):
    """Work a formula out as a reader would."""
    if formula.startswith("\\begin{cases}"):
        for row in formula.removeprefix("\\begin{cases}\n").removesuffix("\n\\end{cases}").split(" \\\\\n"):
            result, when = row.split(" & ")
            if holds(when, known):
                return value(result, known)
        raise AssertionError(formula)
    code = formula.replace("[", "(").replace("]", ")")
    code = re.sub(r"\\dfrac\{(.*)\}\{([^}]*|.*)\}$", r"((\1)/(\2))", code)
    code = re.sub(r"\b([a-z]_\{\d+\}|z\b)", lambda name: f"known[{name[1]!r}]", code)
    code = re.sub(r"e\^\{(.*?)\}\)", r"np.exp(\1))", re.sub(r"_\{(\d+)\}", r"_\1", code))
    code = re.sub(r"\^\{([^}]*)\}", r"**(\1)", code).replace("\\cdot 10", "* 10.0").replace("\\,", "*")
    return eval(code, {"np": np, "known": {re.sub("[{}]", "", name): each for name, each in known.items()}})  # noqa: S307


def holds(when, known):
    said = re.sub(r"\\text\{(.*?)\}", r"\1", when).strip()
    if said == "otherwise" or "every input" in said:
        return said == "otherwise"
    name = re.search(r"x_\{\d+\}", said)[0]
    if said.endswith("is missing"):
        return np.isnan(known[name])
    return eval(said.removeprefix("if ").replace(name, repr(known[name])).replace("\\le", "<="))  # noqa: S307


def random_gates(seed):
    rng = np.random.default_rng(seed)
    nodes = [
        Leaf("a", Ramp([(2, 0), (10, 1)])),
        Leaf("b", Ramp([(-5, 1), (0, 0.25), (5, 0.25), (8, 0.5)], missing=0.125)),
        Leaf("c", Sigmoid(4, 0.5)),
        Leaf("d", Sigmoid(-3, -1.5, missing=0.75)),
        Leaf("e", Given(missing=0.5)),
        Leaf("f"),
    ]
    while len(nodes) > 1:
        size = min(int(rng.integers(2, 4)), len(nodes))
        inputs = [nodes.pop(rng.integers(len(nodes))) for _ in range(size)]
        inputs = [Not(each, "turned" if rng.random() < 0.5 else "") if rng.random() < 0.3 else each for each in inputs]
        rule = "exact" if rng.random() < 0.3 else "gcd"
        nodes.append(Gate(inputs, float(rng.uniform(-0.2, 1.2)), rng.dirichlet(np.full(size, 3.0)).tolist(), rule))
    return Tree(Not(nodes[0]) if rng.random() < 0.2 else nodes[0])


@pytest.mark.parametrize("seed", range(60))
def test_whoever_follows_the_formulas_finds_the_truth(seed):
    tree = random_gates(seed)
    rng = np.random.default_rng(seed)
    text = to_latex(tree)
    columns = dict(re.findall(r"\\item\[\$(x_\{\d+\})\$\] \{(.)\}", text))
    for _ in range(20):
        row = {name: rng.uniform(-8, 12) for name in "abcd"} | {name: rng.uniform(0.05, 0.95) for name in "ef"}
        row |= {name: np.nan for name in "bde" if rng.random() < 0.2}
        known = {symbol: row[feature] for symbol, feature in columns.items()}
        for symbol, formula in formulas(text).items():
            known[symbol] = value(formula, known)
        assert abs(known["z"] - tree.evaluate({name: [each] for name, each in row.items()})[0]) < 5e-3


def test_a_gate_is_told_with_its_level_its_andness_and_its_weights():
    text = to_latex(Tree(Gate(["a", Not("b")], "HC+", [0.25, 0.75], name="good & cheap")))
    assert r"$z$, \emph{good \& cheap}: HC+, high hard conjunction: must have all." in text
    assert r"Andness $0.9286$; weights $0.25$ of $t_{1}$ and $0.75$ of $1 - t_{2}$." in text
    assert formulas(text)["z"] == r"t_{1}^{0.3367}\, (1 - t_{2})^{1.01}"


@pytest.mark.parametrize("code", LEVELS)
def test_every_level_is_told(code):
    text = to_latex(Tree(Gate(["a", "b", "c"], code)))
    assert f"{escaped(code)}, {escaped(LEVELS[code].name)}: {LEVELS[code].words}." in text


def test_drastic_gates_are_told_in_words():
    both = [formulas(to_latex(Tree(Gate(["a", "b"], code))))["z"] for code in ("CC", "DD")]
    assert "1 & \\text{if every input is fully true}" in both[0]
    assert "0 & \\text{if every input is fully false}" in both[1]


def test_answers_of_two_and_of_several_classes_and_of_one():
    tree, link = Tree(Leaf("a")), Link(4.0, 0.25)
    columns = (Feature("a", "truth"),)
    two = to_latex(Decision((tree,), (link,), ("no", "yes"), columns, turns_at=0.625))
    assert "It is ``yes'' when $z > 0.625$, else ``no''." in two
    assert formulas(two)["p"] == r"\dfrac{1}{1 + e^{-4\,(z - 0.25)}}"
    three = to_latex(Decision((tree,) * 3, (link,) * 3, (1, 2, 3), columns))
    assert set(formulas(three)) == {"z_{1}", "z_{2}", "z_{3}", "p_{1}", "p_{2}", "p_{3}"}
    assert "It is always 7." in to_latex(Decision((), (), (7,), columns))
    assert "rounded" in two


def test_braces_and_environments_are_closed_whatever_the_names():
    for text in [to_latex(hostile(), standalone=True), *(to_latex(random_model(seed)) for seed in range(24))]:
        assert text.isascii()
        plain = re.sub(r"(?m)^%.*$", "", text)
        opened = [begin or "-" + end for begin, end in re.findall(r"\\begin\{(\w+\*?)\}|\\end\{(\w+\*?)\}", plain)]
        waiting = []
        for each in opened:
            if each.startswith("-"):
                assert waiting.pop() == each[1:]
            else:
                waiting.append(each)
        assert not waiting
        depth = 0
        for brace in re.findall(r"\\[\\{}]|[{}]", plain):
            depth += {"{": 1, "}": -1}.get(brace, 0)
            assert depth >= 0
        assert depth == 0


def test_signs_are_set_as_they_are_or_told_by_their_number():
    assert escaped("a_b & 50% {x} #1 $") == r"a\_b \& 50\% \{x\} \#1 \$"
    assert escaped("\\~^<>|") == (
        r"\textbackslash{}\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}"
    )
    assert escaped("é ï µ² \U0001f642") == r"""\'{e} \"{\i} \ensuremath{\mu}\ensuremath{^2} [U+1F642]"""
    assert escaped("a\nb") == r"a\textbackslash{}nb"
    assert escaped("a--b  c") == r"a{-}{-}b \ c"


def hostile():
    leaves = [
        Leaf(name, Ramp([(0, 0), (1, 1)], unit=name) if i % 2 else Table({name: 1, "b": 0}, missing=0.5), name)
        for i, name in enumerate(NAMES)
    ]
    tree = Tree(Gate([Not(Gate(leaves[:9], "SD", name=NAMES[3]), NAMES[4]), *leaves[9:]], 0.6))
    columns = tuple(Feature(leaf.feature, "category" if i % 2 == 0 else "number") for i, leaf in enumerate(leaves))
    return Decision((tree,), (Link(4.0, 0.5),), (NAMES[11], NAMES[-2]), columns)


def deep():
    node = Leaf("x")
    for i in range(3000):
        node = Gate([node, "y"], "HC" if i % 2 else "SD")
    return Tree(node)


@needs_latex
def test_latex_sets_it(tmp_path):
    """All in one document: models of every kind, names that break things."""
    parts = [to_latex(model) for model in [hostile(), *map(random_model, range(40))]]
    whole = to_latex(hostile(), standalone=True)
    start, end = whole.index("\\begin{document}\n") + len("\\begin{document}\n"), whole.index("\\end{document}")
    latex(tmp_path, whole[:start] + "\n\\newpage\n".join(parts) + whole[end:])


@needs_latex
def test_latex_sets_a_deep_tree(tmp_path):
    latex(tmp_path, to_latex(deep(), standalone=True))


def latex(folder, text):
    (folder / "model.tex").write_text(text, encoding="ascii")
    call = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "model.tex"]
    done = subprocess.run(call, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:].decode(errors="replace")
    assert (folder / "model.pdf").stat().st_size > 0
