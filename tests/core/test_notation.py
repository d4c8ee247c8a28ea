import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import trees

from baconlogic import FormulaError, Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table


@given(trees)
def test_parse_gives_back_what_formula_wrote(tree):
    assert Tree.parse(tree.formula()) == tree


def test_the_papers_breast_cancer_tree():
    text = "HHC(concave_points3: 0.5, HHD(radius2: 0.04, area1: 0.11, concavity1: 0.34, perimeter3: 0.51): 0.5)"
    tree = Tree.parse(text)
    size = Gate(["radius2", "area1", "concavity1", "perimeter3"], "HHD", [0.04, 0.11, 0.34, 0.51])
    assert tree == Tree(Gate(["concave_points3", size], "HHC", [0.5, 0.5]))
    assert Tree.parse(tree.formula()) == tree
    assert tree.features == ("concave_points3", "perimeter3", "concavity1", "area1", "radius2")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("a", Leaf("a")),
        ('"worst radius"', Leaf("worst radius")),
        ("not not a", Not(Not("a"))),
        ("0.83(a, b)", Gate(["a", "b"], 0.83)),
        ("-.25 ( a,b )", Gate(["a", "b"], -0.25)),
        ("1e-1(a, b)", Gate(["a", "b"], 0.1)),
        ("HC+(a: 75%, b: 25%)", Gate(["a", "b"], "HC+", [0.75, 0.25])),
        ("A(a: 33%, b: 33%, c: 33%)", Gate(["a", "b", "c"], "A", [0.33 / 0.99] * 3)),
        ("HC(a: 75, b: 25)", Gate(["a", "b"], "HC", [0.75, 0.25])),
        ("not (a)", Not("a")),
        ("(SC((a), not (not b)))", Gate(["a", Not(Not("b"))], "SC")),
        ("size = (SC(a, b))", Gate(["a", "b"], "SC", name="size")),
        ("x[1 at 25, 0 at 12]", Leaf("x", Ramp([(12, 0), (25, 1)]))),
        ("exact SC-(a, not b)", Gate(["a", Not("b")], "SC-", None, "exact")),
        ("SC(A, C)", Gate(["A", "C"], "SC")),
        ("big = not size = SC(a, b)", Not(Gate(["a", "b"], "SC", name="size"), name="big")),
        ("x[missing 0.5]", Leaf("x", Given(0.5))),
        ("x[0 at 12, 1 at 25]", Leaf("x", Ramp([(12, 0), (25, 1)]))),
        ('x[1 at -1e3, 0 at 2.5, missing 1, unit "mm"]', Leaf("x", Ramp([(-1000, 1), (2.5, 0)], 1.0, "mm"))),
        ("x[slope -0.9, half at 16.8]", Leaf("x", Sigmoid(16.8, -0.9))),
        ("x[above 16.8]", Leaf("x", Interval(16.8))),
        ("x[up to -2, above -3, missing 0]", Leaf("x", Interval(-3, -2, 0.0))),
        ('x[1 if "red", 0.4 if 3, 0.1 if true, other 0]', Leaf("x", Table({"red": 1, 3: 0.4, True: 0.1}, other=0))),
        ("SC(\n  a,\n  b\n)", Gate(["a", "b"], "SC")),
        ("größe", Leaf("größe")),
    ],
)
def test_what_a_person_types(text, node):
    assert Tree.parse(text) == Tree(node)


@pytest.mark.parametrize(
    ("text", "problem", "column"),
    [
        ("", "a tree needs at least one leaf", 1),
        ("   ", "a tree needs at least one leaf", 4),
        ("SC(a b)", "expected ',' or ')'; a name that is not one plain word stands in double quotes", 6),
        ("SC(debt/income, b)", "a name that is not one plain word stands in double quotes", 8),
        ("SC(a, b", "expected ',' or ')'", 8),
        ("SC('a', b)", "put the name between straight double quotes", 4),
        ("(a, b)", "expected ')'", 3),
        ("SC(a, )", "expected a feature", 7),
        ("SC(a: x, b)", "expected a weight, a number", 7),
        ("SC(a: 0, b: 1)", "a weight must be a positive number, got 0.0", 1),
        ("SC(a: -1, b: 1)", "a weight must be a positive number, got -1.0", 1),
        ("SC(a: .5, b)", "every input of this gate a weight, or none", 12),
        ("SC(a)", "a gate combines two or more inputs, got 1", 1),
        ("XYZ(a, b)", "unknown code 'XYZ'", 1),
        ("sc(a, b)", "unknown code 'sc'; did you mean SC?", 1),
        ("AND(a, b)", "unknown code 'AND'; did you mean HC?", 1),
        ("exact XYZ(a, b)", "unknown code 'XYZ'", 7),
        ("other SC(a, b)", "unknown aggregator 'other'", 1),
        ("2.4(a, b)", "andness must be in [-1, 2], got 2.4; use 2 for the drastic conjunction", 1),
        ("1e999(a, b)", "andness must be in [-1, 2], got inf", 1),
        ("a b", "expected the end of the formula", 3),
        ("SC(a, b))", "expected the end of the formula", 9),
        ("not", "expected a feature", 4),
        ("x[", "expected e.g. 1 at 25", 3),
        ("x[1 at 3]", "two or more breakpoints", 3),
        ("x[1 at 1e999, 0 at 2]", "finite number", 3),
        ("x[2 at 1, 0 at 2]", "must be in [0, 1], got 2.0", 3),
        ("x[half at 3]", "a sigmoid needs both", 3),
        ("x[half 3, slope 1]", "expected `half at`", 8),
        ("x[up 3]", "expected `up to`", 6),
        ("x[above 3, up to 3]", "nothing is above 3 and up to 3", 3),
        ('x[0 at 1, 1 at 2, 1 if "a"]', "no mixture", 3),
        ("x[missing 1, missing 0]", "'missing' is said twice", 14),
        ('x[unit "mm"]', "`unit` goes with", 3),
        ("x[0 at 1, 1 at 2, unit mm]", "the unit in double quotes", 24),
        ("x[1 if 2.5]", "expected a category", 8),
        ("x[1 if red]", "expected a category", 8),
        ('"open', "between straight double quotes", 1),
        ("SC(a: 0.6, b: 0.5)", "weights must sum to 1, or to 100 as percentages, got 1.1", 1),
        ('" " = (a)', "a name must be text", 7),
        ('"\\ud800" = (a)', "no file can store", 12),
        ("x = (y = SC(a, b))", "this part has two names, 'x' and 'y'", 5),
        ("k[1 if " + "1" * 5000 + "]", "expected a category", 8),
        ('"bad \\q escape"', "an escape that is not valid", 1),
        ('"\\ud800"', "holds a character that no file can store", 1),
    ],
)
def test_errors_say_what_is_wrong_and_point_at_the_place(text, problem, column):
    with pytest.raises(FormulaError) as caught:
        Tree.parse(text)
    message = str(caught.value)
    assert problem in message
    assert f"(column {column})" in message
    assert caught.value.position == column - 1
    mark = message.splitlines()[-1]
    assert mark.strip() == "^"


@pytest.mark.parametrize("text", ["HHC(" + "a: 1, " * 30 + "b 2)", "HC(a,\n   b,\n   SC(c, d 2),\n   e)"])
def test_the_mark_stands_under_the_place(text):
    with pytest.raises(FormulaError) as caught:
        Tree.parse(text)
    _, shown, mark = str(caught.value).splitlines()
    assert shown[mark.index("^")] == "2"


def test_a_formula_of_several_lines_is_pointed_into_by_line():
    with pytest.raises(FormulaError, match=r"\(line 3, column 12\)"):
        Tree.parse("HC(a,\n   b,\n   SC(c, d 2),\n   e)")


def test_only_text_is_a_formula():
    with pytest.raises(TypeError, match="a formula is text, got NoneType"):
        Tree.parse(None)


def test_a_long_number_is_refused():  # which took minutes when the pattern could backtrack
    with pytest.raises(FormulaError):
        Tree.parse("1" * 100_000)


@given(st.text(alphabet='abSC()[]:,=. "\\0123-+not atif\n', max_size=40))
def test_any_text_is_a_tree_or_a_formula_error(text):
    try:
        tree = Tree.parse(text)
    except FormulaError:
        return
    assert Tree.parse(tree.formula()) == tree


def test_a_chain_of_thousands_of_gates_is_written_and_read():
    text = "x0"
    for i in range(1, 3000):
        text = f"{'HC' if i % 3 else 'SD+'}({text}, x{i})"
    assert Tree.parse(text).formula() == text


def test_names_stand_for_parts():
    size = Tree.parse("old = HD(radius[above 16.8], area[0 at 600, 1 at 1100])")
    tree = Tree.parse(
        'HC(size: 0.7, not "odd texture": 0.3)', parts={"size": size, "odd texture": "texture1[up to 20]"}
    )
    assert tree.formula() == (
        'HC(size = HD(radius[above 16.8], area[0 at 600, 1 at 1100]): 0.7, not "odd texture" = texture1[up to 20]: 0.3)'
    )
    assert Tree.parse(tree.formula()) == tree
    assert Tree.from_dict(tree.to_dict()) == tree
    assert tree["size"].inputs == size.root.inputs
    whole = Tree.parse("SC(cell, a)", parts={"cell": tree, "a": Leaf("a", Given(0.5))})  # a part of a part, of a column
    assert whole["cell"].inputs == tree.root.inputs
    assert whole["a"] == Leaf("a", Given(0.5), "a")
    assert Tree.parse("size", parts={"size": size}).root.name == "size"
    assert Tree.parse("HC(s, HD(s, b))", parts={"s": "c"}).features == ("c", "b")
    assert Tree.parse("HC(a, b)", parts={}) == Tree.parse("HC(a, b)")


@pytest.mark.parametrize(
    ("text", "parts", "error", "message"),
    [
        ("HC(a, b)", {"c": "d"}, ValueError, "the part 'c' is not in the formula"),
        ("HC(a, b)", {"b": "SC(c, "}, FormulaError, r"part 'b': expected a feature"),
        ("HC(a, b)", {"b": 3}, TypeError, "the part 'b' must be a Tree, a node or a formula, got int"),
        ("HC(a, b[above 3])", {"b": "c"}, FormulaError, "'b' is a part, which takes no criterion"),
        ("HC(a, x = b)", {"b": "c"}, FormulaError, "this part has two names, 'x' and 'b'"),
        ("HC(a, b)", ["b"], TypeError, "parts gives trees by name, got list"),
    ],
)
def test_parts_that_cannot_be_used_are_refused(text, parts, error, message):
    with pytest.raises(error, match=message):
        Tree.parse(text, parts=parts)
