import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import trees

from baconlogic import Tree
from baconlogic.core.forms import form_of, points, points_needed, shape_of


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("A(a, b[above 2], c)", "checklist"),
        ("not A(a, not b, HC(c, d))", "checklist"),
        ("A(a, b[above 2], x[0 at 1, 1 at 2])", "scorecard"),
        ("A(a: 0.5, b: 0.3, c: 0.2)", "scorecard"),
        ("A(a, SC(b, c))", "scorecard"),
        ("0.52(a, b)", "graded"),
        ("HD(HC(a, not b), c[up to 3])", "rules"),
        ("HC(HD(a, b), not HC(c, d))", "rules"),
        ("HC(a, HC+(b, HD(c, D(d, e))))", "rules"),
        ("HC(a, HD(b, HC(c, d)))", "graded"),
        ("HC(a, large = HC(b, HD(c, d)))", "graded"),
        ("SC(a, b)", "graded"),
        ("HC(a, x[0 at 1, 1 at 2])", "graded"),
        ("HC(a: 0.6, b: 0.4)", "graded"),
        ("HC(a[above 1]: 0.6, b[up to 2]: 0.4)", "rules"),
        ("x[above 3]", "rules"),
        ('not k[1 if "a", 0.5 if "b"]', "graded"),
        ('k[1 if "a", other 0, missing 0.5]', "rules"),
    ],
)
def test_forms_are_known_by_the_tree(text, form):
    assert form_of(Tree.parse(text)) == form


def test_without_a_threshold_among_the_truths_nothing_is_counted():
    assert form_of(Tree.parse("A(a, b)"), 1.0) == "scorecard"


@given(trees)
def test_every_tree_has_a_form(tree):
    assert form_of(tree) in ("checklist", "scorecard", "rules", "graded")
    assert shape_of(tree.root).layers <= tree.depth


@given(st.lists(st.integers(1, 20), min_size=2, max_size=5))
def test_points_are_the_smallest_whole_numbers_in_their_proportion(given_points):
    total = sum(given_points)
    assert points([p / total for p in given_points]) == tuple(p // np.gcd.reduce(given_points) for p in given_points)


def test_weights_that_are_not_round_have_no_points():
    assert points([0.1234, 0.8766]) is None
    assert points([1 / 3] * 3) == (1, 1, 1)


@given(st.integers(2, 12), st.floats(0, 0.999))
def test_a_checklist_is_what_it_says(n, threshold):
    k = points_needed(threshold, n)
    if min(abs(threshold - j / n) for j in range(n + 1)) < 1e-6:
        return
    tree = Tree.parse(f"A({', '.join(f'x{i}' for i in range(n))})")
    held = np.arange(n + 1)
    found = tree.evaluate({f"x{i}": (held > i).astype(float) for i in range(n)}) > threshold
    assert found.tolist() == (held >= k).tolist()
