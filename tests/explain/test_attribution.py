import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import trees

from baconlogic import BaconClassifier, Gate, Leaf, Tree, datasets
from baconlogic.core.criteria import Given, Ramp, Sigmoid
from baconlogic.edit import remove
from baconlogic.explain._attribution import attribution


def without(tree, feature):
    """Take away every leaf of a feature; None when nothing is left."""
    while feature in tree.features:
        if tree.features == (feature,):
            return None
        tree = remove(tree, next(p for p, node in tree.walk() if isinstance(node, Leaf) and node.feature == feature))
    return tree


def as_given(tree):
    """Return a tree over columns a to d that hold degrees of truth."""
    root = tree.root
    for path, node in tree.walk():
        if isinstance(node, Leaf):
            root = Tree(root).replace(path, Leaf("abcd"[len(node.feature) % 4], Given())).root
    return Tree(root)


@given(trees.map(as_given), st.integers(0, 5), st.floats(0.1, 0.9))
@settings(max_examples=40)
def test_absence_is_what_edit_remove_leaves(tree, seed, threshold):
    X = dict(zip("abcd", np.random.default_rng(seed).random((4, 30)), strict=True))
    y = np.random.default_rng(seed).random(30) < 0.5
    whole = tree.evaluate(X)
    decided = whole > threshold
    found = attribution(tree, X, y, threshold=threshold)
    assert found.accuracy == np.mean(decided == y)
    for row in found.rows:
        left = without(tree, row.feature)
        if left is None:
            assert (row.changed, row.moved, row.accuracy_drop) == (None, None, None)
            continue
        truths = left.evaluate(X)
        if np.abs(truths - threshold).min() < 1e-9 or np.abs(whole - threshold).min() < 1e-9:
            continue
        assert row.moved == pytest.approx(np.mean(np.abs(truths - whole)), abs=1e-12)
        assert row.changed == np.mean((truths > threshold) != decided)
        assert row.accuracy_drop == pytest.approx(np.mean(decided == y) - np.mean((truths > threshold) == y))
    assert sorted([*found.unused, *(row.feature for row in found.rows)]) == list("abcd")
    assert sum(row.weight for row in found.rows) == pytest.approx(1.0)


def test_decisive_rows_are_those_that_the_values_of_the_feature_turn():
    tree = Tree.parse("HC(x[0 at 0, 1 at 1], x[1 at 3, 0 at 4], HD(y[0 at 0, 1 at 1], z))")
    rng = np.random.default_rng(0)
    X = {"x": rng.uniform(-1, 5, 300), "y": rng.uniform(-1, 2, 300), "z": rng.choice([0.0, 0.2], 300)}
    found = {row.feature: row.decisive for row in attribution(tree, X).rows}
    for name in X:
        said = np.array([tree.evaluate(X | {name: np.full(300, value)}) > 0.5 for value in X[name]])
        assert found[name] == pytest.approx(np.mean(said.any(axis=0) & ~said.all(axis=0)), abs=0.02)
    assert found["x"] > found["y"] > 10 * found["z"] > 0.0


def impacts(found):
    return [row.feature for row in found.rows]


@pytest.mark.parametrize("case", ["A", "B"])
def test_the_features_of_the_house_rules_rank_above_all_others(case):
    data = datasets.houses(case, rows=3000)
    wanted = [name for name, _ in datasets.house_rule(case).thresholds]
    fitted = BaconClassifier(random_state=0).fit(data.frame().drop(columns="target"), data.y)
    assert set(impacts(attribution(fitted, data.X, data.y))[:3]) == set(wanted)
    ends = np.quantile(data.X, [0.05, 0.95], axis=0).T  # never quite true or false: there even a light leaf decides
    leaf = {
        name: Leaf(name, Ramp(zip(end, [0.05, 0.95], strict=True)))
        for name, end in zip(data.feature_names, ends, strict=True)
    }
    for name, threshold in datasets.house_rule(case).thresholds:
        leaf[name] = Leaf(name, Sigmoid(threshold + 1e-3, 50.0 / max(threshold, 1.0)))
    noise = [name for name in data.feature_names if name not in wanted]
    level, opposite = ("HC", "HD") if case == "A" else ("HD", "HC")
    for andness in (level, opposite, "A"):
        rule = Gate([leaf[name] for name in wanted], level)
        tree = Tree(Gate([rule, *(leaf[name] for name in noise)], andness, [0.97, 0.01, 0.01, 0.01]))
        found = attribution(tree, data.X, data.y, columns=data.feature_names)
        assert set(impacts(found)[:3]) == set(wanted), andness


def test_the_variables_of_appendix_b_rank_above_noise():
    expression = datasets.appendix_b()
    table = datasets.boolean(expression, repeats=2)
    noise = np.random.default_rng(1).integers(0, 2, (len(table.y), 4)).astype(float)
    names = [*table.feature_names, "n1", "n2", "n3", "n4"]
    X = dict(zip(names, np.hstack([table.X, noise]).T, strict=True))
    fitted = BaconClassifier(random_state=0).fit(np.column_stack(list(X.values())), table.y)
    found = attribution(fitted, np.column_stack(list(X.values())), table.y)
    assert {f"x{i}" for i in range(8)} >= set(impacts(found)[:5])  # the rest hardly ever matter
    tree = Tree.parse(f"A({expression.formula()}: 0.9, n1: 0.04, n2: 0.03, n3: 0.02, n4: 0.01)")
    found = attribution(tree, X, table.y.astype(bool))
    assert set(impacts(found)[:8]) == set(table.feature_names)
    assert [row.decisive for row in found.rows[8:]] == [0.0] * 4
    assert found.accuracy == 1.0


def test_rows_are_ranked_by_what_they_decide():
    data = datasets.houses("B", rows=500)
    tree = Tree.parse("HD(bed[half at 4.5, slope 9], bath[half at 3.5, slope 9], acre_lot[half at 0.5, slope 40])")
    rows = attribution(tree, data.frame(), data.y.astype(bool)).rows
    keys = [(row.decisive, row.changed, row.moved, row.weight) for row in rows]
    assert keys == sorted(keys, reverse=True)


def test_roles_are_told_for_the_gate_and_for_the_whole():
    tree = Tree.parse("HC(a, HC+(b, SC(c, d)), not HD(e, f))")
    X = dict(zip("abcdefg", np.random.default_rng(0).random((7, 20)), strict=True))
    rows = {row.feature: (row.role, row.whole) for row in attribution(tree, X).rows}
    must = ("mandatory", "mandatory")
    assert rows == {"a": must, "b": must, "c": ("desired", ""), "d": ("desired", ""), "e": must, "f": must}


def test_the_text():
    X = {"a": [0.9, 0.1, 0.8, 0.9], "b": [0.9, 0.9, 0.2, 0.8], "c": [1, 2, 3, 4], "t\n": [0, 0, 0, 0]}
    assert str(attribution(Tree.parse("HC(a: 0.6, b: 0.4)"), X, [True, False, False, True])) == "\n".join(
        [
            "feature  role       weight  decides  changes  moves truth by  accuracy lost",
            "a        mandatory   60.0%    75.0%    25.0%           24.0%          25.0%",
            "b        mandatory   40.0%    75.0%    25.0%           14.6%          25.0%",
            "",
            "decides: cases in which this feature alone, moved over its values, turns the decision; "
            "changes: decisions that turn when the feature is left out.",
            "Accuracy of the whole tree: 100% of 4 cases.",
            "Not used: c and t\\n.",
        ]
    )
    alone = attribution(Tree("a"), X)
    assert "decides alone  100.0%   100.0%        -               -" in str(alone)
    assert alone.to_dict()["rows"][0]["changed"] is None
    assert list(alone.to_frame()["feature"]) == ["a"]


def test_what_cannot_be_asked_is_said():
    tree = Tree.parse("HC(a, b)")
    with pytest.raises(ValueError, match="needs at least one row"):
        attribution(tree, {"a": [], "b": []})
    with pytest.raises(ValueError, match="missing column"):
        attribution(tree, {"a": [0.1]})
    with pytest.raises(ValueError, match="one label for each of 1 rows"):
        attribution(tree, {"a": [0.1], "b": [0.2]}, [True, False])


def test_a_feature_mandatory_for_one_part_and_desired_in_another_is_not_called_mandatory():
    tree = Tree.parse("A(C(a[0 at 0, 1 at 1], b), SC(a[0 at 0, 1 at 2], c))")
    found = attribution(tree, {"a": [0, 1, 2.0], "b": [0, 1, 1], "c": [1, 0, 1]})
    assert found.rows[0].whole == ""
    assert "mandatory and desired within a part" in str(found)


def test_a_misspelt_label_of_a_tree_alone_is_refused():
    with pytest.raises(ValueError, match="no row is 'grannt', which label= says means yes; y holds 'grant', 'deny'"):
        attribution(Tree("a"), {"a": [0.1, 0.9]}, ["grant", "deny"], label="grannt")
