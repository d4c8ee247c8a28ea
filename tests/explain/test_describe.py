import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import andness, shares, trees, weights

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.explain._describe import describe
from baconlogic.explain._words import by_feature, feature_weights, leaf_roles, spans_of

CELL = (
    (
        "HC(the cell is large = HD(area[half at 880, slope 0.01], radius[half at 16.5, slope 1]), "
        "its outline is irregular = HD(dents[half at 0.14, slope 50]: 0.8, concavity[half at 0.3, slope 9]: 0.2))"
    )
    .replace("the cell is large", '"the cell is large"')
    .replace("its outline is irregular", '"its outline is irregular"')
)


@st.composite
def distinct(draw):
    """Trees of given truths in which every leaf is another column."""
    size = draw(st.integers(2, 8))
    parts = [Leaf(f"x{i}") for i in range(size)]
    while len(parts) > 1:
        n = draw(st.integers(2, min(4, len(parts))))
        share = shares(draw(st.lists(weights, min_size=n, max_size=n)))
        gate = Gate(parts[:n], draw(andness(n)), share, draw(st.sampled_from(["gcd", "exact"])))
        parts = [*parts[n:], Not(gate) if draw(st.booleans()) else gate]
        if draw(st.booleans()):
            parts[0] = Not(parts[0])
    return Tree(parts[0])


def one_line(text):
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@given(trees, st.floats(-0.5, 1.5))
@settings(max_examples=40)
def test_every_feature_is_named_and_every_sentence_is_one_line(tree, threshold):
    found = describe(tree, threshold=threshold)
    told = " ".join(found.sentences) or str(found)
    for feature in tree.features:
        assert one_line(feature) in told
        assert any(row.feature == feature for row in found.features)
    assert all(text.isprintable() for text in (found.summary, *found.sentences))
    assert found.summary.endswith(".")
    assert len(str(found).split("\n")) == 3 + len(found.features) + (len(found.sentences) + 1) * bool(found.sentences)


@given(distinct(), st.data())
@settings(max_examples=40)
def test_mandatory_and_sufficient_for_the_whole_are_what_they_say(tree, data):
    rows = 20
    seed = data.draw(st.integers(0, 10))
    X = {feature: np.random.default_rng(seed).random(rows) for feature in tree.features}
    for role in leaf_roles(tree):
        if role.for_the_whole == "mandatory":
            truths = tree.evaluate(X | {role.leaf.feature: np.full(rows, float(role.negated))})
            assert truths == pytest.approx(np.zeros(rows), abs=1e-9)
        if role.for_the_whole == "sufficient":
            truths = tree.evaluate(X | {role.leaf.feature: np.full(rows, float(not role.negated))})
            assert truths == pytest.approx(np.ones(rows), abs=1e-9)


@given(trees)
@settings(max_examples=40)
def test_leaf_roles_tell_the_leaves_from_left_to_right_and_their_weights_sum_to_one(tree):
    roles = leaf_roles(tree)
    assert [role.leaf for role in roles] == [node for _, node in tree.walk() if isinstance(node, Leaf)]
    assert sum(role.weight for role in roles) == pytest.approx(1.0)
    assert list(feature_weights(roles)) == list(by_feature(roles))
    assert set(feature_weights(roles)) == set(tree.features)


def roles_of(text):
    return {row.feature: row.role for row in describe(Tree.parse(text)).features}


def test_a_role_reaches_as_far_up_as_gates_of_its_family_do():
    assert roles_of("HC(a, HC+(b, HD(c, D(d, e))))") == {
        "a": "mandatory",
        "b": "mandatory",
        "c": "sufficient within group 1",
        "d": "sufficient within group 1",
        "e": "sufficient within group 1",
    }
    assert roles_of("HD(a, HD(b, SC(c, d)))") == {
        "a": "sufficient",
        "b": "sufficient",
        "c": "desired within group 1",
        "d": "desired within group 1",
    }
    assert roles_of("SD(a, A(b, c))") == {"a": "optional", "b": "neutral within group 1", "c": "neutral within group 1"}
    assert roles_of("HC(a, SC(b, HC(c, d)))")["c"] == "mandatory within group 2"


def test_a_negation_turns_roles_around():
    assert roles_of("not HC(a, b)") == {"a": "sufficient", "b": "sufficient"}
    assert roles_of("HC(a, not HD(b, c))") == {"a": "mandatory", "b": "mandatory", "c": "mandatory"}
    assert roles_of("HC(a, not large = HD(b, SC(c, d)))")["b"] == "mandatory"
    assert roles_of("SC(a, not large = HD(b, c))")["b"] == "mandatory within not large"


def test_the_logic_of_a_cell_in_one_sentence():
    found = describe(Tree.parse(CELL), label="malignant")
    assert found.summary == (
        "Malignant when it is more than half true that all of these hold: "
        "the cell is large (any of area above about 880 or radius above about 16.5); "
        "and its outline is irregular (any of dents above about 0.14 or concavity above about 0.3)."
    )
    assert found.sentences == (
        "Overall: must have all of: the cell is large and its outline is irregular, equally (HC).",
        "The cell is large: enough to have any of: area above about 880 or radius above about 16.5, equally (HD).",
        "Its outline is irregular: enough to have any of: dents above about 0.14 [80%, most weight]; or concavity "
        "above about 0.3 [20%, little weight] (HD).",
    )


def test_the_whole_text():
    band, colour = "x[0 at 3, 1 at 4], x[1 at 5, 0 at 6]", 'k[1 if "red", 0.3 if "blue", missing 0.2]'
    assert str(describe(Tree.parse(f"HC({band}, not HC(a, b), {colour})"))) == "\n".join(
        [
            "Yes when it is more than half true that all of these hold: x between about 3.5 and 5.5; "
            "any of not a or not b; and k is 'red'.",
            "",
            "1. Overall: must have all of: x between about 3.5 and 5.5 [50%, most weight]; group 1 (a, b) [25%]; "
            "and k is 'red' [25%] (HC).",
            "2. Group 1: enough to have any of: not a or not b, equally (HD).",
            "",
            "feature  role                       speaks for yes  more than half true",
            "x        mandatory                  in between      between about 3.5 and 5.5",
            "k        mandatory                  by category     fully true for 'red', 30% true for 'blue'; "
            "missing counts as 20% true",
            "a        sufficient within group 1  when not true   the opposite of what is given",
            "b        sufficient within group 1  when not true   the opposite of what is given",
        ]
    )


def test_bands_are_told_together_only_where_both_sides_meet():
    def told(text):
        return describe(Tree.parse(text)).summary

    up, down = "x[0 at 2, 1 at 4]", "x[1 at 4, 0 at 6]"
    assert "x between about 3 and 5" in told(f"HC({up}, y, {down})")
    assert "x between about 3 and 5" in told(f"SC({up}, HC(y, z), SC(q, {down}))")
    assert "x between about 3 and 5" in told(f"HC({up}, not x[0 at 4, 1 at 6])")
    assert "x above about 3 or x below about 5" in told(f"HD({up}, {down})")
    assert "x below about 3 or above about 5" in told("HD(x[1 at 2, 0 at 4], y, x[0 at 4, 1 at 6])")
    assert "between" not in told(f"A({up}, {down})")
    assert "between" not in told("HC(x[0 at 6, 1 at 8], x[1 at 1, 0 at 3])")
    row = describe(Tree.parse(f"HC({up}, y, {down})")).features[0]
    assert (row.feature, row.where, row.direction) == ("x", "between about 3 and 5", "in between")


def test_a_scorecard_adds_points():
    tree = Tree.parse("A(radius[half at 16, slope 1]: 0.5, texture[half at 20, slope -1]: 0.3, smoker: 0.2)")
    found = describe(tree, threshold=0.45)
    assert found.summary == (
        "Yes when the points add up to more than 45%: radius above about 16 counts 50%, texture below about 20 counts "
        "30% and smoker counts 20%; each counts in proportion to how true it is."
    )
    assert [row.role for row in found.features] == ["neutral"] * 3


def test_a_long_chain_is_told_in_a_few_steps():
    node = Leaf("x0")
    for i in range(1, 30):
        node = Gate([node, f"x{i}"], "HD" if 10 <= i < 20 else "HC" if i % 2 else "CP")
    found = describe(Tree(node))
    assert len(found.sentences) == 3
    assert found.sentences[0].endswith("(HC x5, CP x5).")
    assert found.sentences[1].startswith("Group 1: enough to have any of: x19 [")
    assert "group 2 (x9, x8, x7 and 7 more)" in found.sentences[1]
    assert found.summary.endswith("3 more that weigh less.")
    thousands = node
    for i in range(30, 2000):
        thousands = Gate([thousands, f"x{i}"], ["HC", "SD"][i // 100 % 2])
    assert len(describe(Tree(thousands)).features) == 2000


def test_shares_of_a_chain_are_what_leaves_weigh_in_truth():
    found = describe(Tree.parse("CP(CP(a, b), c)")).sentences  # the product of the three
    assert found == ("Overall: must have all of: c, a and b, equally (CP x2).",)


@pytest.mark.parametrize(
    ("tree", "summary"),
    [
        (Tree("a"), "Yes when a is more than half true."),
        (Tree.parse("not a"), "Yes when a is less than half true."),
        (Tree(Leaf("x", Ramp.between(1, 3, unit="mm"))), "Yes when x is above about 2 mm."),
        (Tree(Not(Leaf("x", Ramp.between(1, 3)))), "Yes when x is below about 2."),
        (Tree(Leaf("x", Sigmoid(5, 1), "tall")), "Yes when tall (x is above about 5)."),
        (Tree(Not(Leaf("x", Sigmoid(5, 1), "tall"))), "Yes when not tall (x is below about 5)."),
        (Tree(Leaf("k", Table({"a": 1, "b": 0}))), "Yes when it is more than half true that k is 'a'."),
        (Tree(Leaf("k", Table({"a": 0}, other=1))), "Yes when it is more than half true that k is not 'a'."),
        (Tree(Leaf("k", Table({"a": 0.2}))), "Yes when it is more than half true that k fits (at most 20% true)."),
    ],
)
def test_trees_of_one_leaf(tree, summary):
    found = describe(tree)
    assert found.summary == summary
    assert found.sentences == ()
    assert [row.role for row in found.features] == ["decides alone"]


def test_a_single_leaf_turns_where_its_threshold_is():
    assert describe(Tree(Leaf("x", Ramp.between(0, 10))), threshold=0.3).summary == "Yes when x is above about 3."
    assert describe(Tree(Not(Leaf("x", Ramp.between(0, 10)))), threshold=0.3).summary == "Yes when x is below about 7."


def test_thresholds_that_no_truth_passes_or_every_truth_does():
    tree = Tree.parse("HC(a, b)")
    assert describe(tree, threshold=-0.1).summary.startswith(
        "Always yes, whatever the values: the decision turns at -0.1"
    )
    assert describe(tree, threshold=1.0, label="ill").summary == (
        "Never ill, whatever the values: the decision turns at 1, and no truth is above 1."
    )


def test_what_a_missing_value_counts_as_is_said():
    rows = describe(
        Tree.parse("HC(x[0 at 1, 1 at 3, missing 0.3], not y[half at 2, slope 1, missing 0.3], z)")
    ).features
    assert [row.where for row in rows] == [
        "above about 2; missing counts as 30% true",
        "below about 2; missing counts as 70% true",
        "as given",
    ]


def test_classes_are_called_by_their_labels():
    tree = Tree.parse("HC(a, b)")
    two = Decision((tree,), (Link(8.0, 0.4),), (0, 1), (Feature("a", "number"), Feature("b", "number")))
    assert describe(two).summary == "The answer is 1 when it is more than 40% true that all of these hold: a and b."
    many = Decision(
        (tree,) * 3, (Link(8.0, 0.4),) * 3, ("p", "q", "r"), (Feature("a", "number"), Feature("b", "number"))
    )
    assert describe(many, label="q").summary.startswith("Q when it is more than 40% true")
    with pytest.raises(ValueError, match="give label="):
        describe(many)


def test_names_of_negations_name_the_opposite():
    tree = Tree(Gate([Not(Gate(["a", "b"], "HC"), "lacking"), "c"], "HC"))
    assert describe(tree).summary.endswith("all of these hold: lacking (any of not a or not b); and c.")
    again = Tree(Gate([Not(Not(Gate(["a", "b"], "HC"), "lacking")), "c"], "HC"))
    assert describe(again).summary.endswith("all of these hold: not lacking (any of not a or not b); and c.")
    assert {row.feature: row.role for row in describe(again).features} == dict.fromkeys("abc", "mandatory")


@given(st.sampled_from([Ramp([(0, 0), (1, 1), (2, 0)]), Ramp([(0, 1), (1, 0.2), (2, 0.9), (3, 0)]), Sigmoid(1, -3)]),
       st.booleans(), st.floats(0.05, 0.95))  # fmt: skip
def test_spans_are_where_truth_is_above(criterion, negated, truth):
    spans = spans_of(criterion, negated, truth)
    x = np.linspace(-5, 5, 2001)
    found = criterion.truth(x)
    found = 1 - found if negated else found
    inside = np.any([(x > low) & (x < high) for low, high in spans], axis=0) if spans else np.zeros(len(x), dtype=bool)
    sure = np.abs(found - truth) > 1e-9
    assert (inside == (found > truth))[sure].all()


def test_a_description_is_plain_data():
    found = describe(Tree(Gate(["a", Leaf("b", Given(0.5))], "A")))
    assert found.to_dict()["features"][0] == {
        "feature": "a",
        "role": "neutral",
        "where": "as given",
        "direction": "when true",
    }


def test_a_column_of_zeros_and_ones_is_told_as_such():
    tree = Tree.parse(
        "SC(income[half at 2500, slope 0.001], owner[0.04 at 0, 0.68 at 1], not debtor[0.1 at 0, 0.9 at 1])"
    )
    told = describe(tree)
    assert "owner is 1" in told.summary
    assert "debtor is 0" in told.summary
    rows = {row.feature: (row.direction, row.where) for row in told.features}
    assert rows["owner"] == ("when 1", "68% true when 1, 4% true when 0")
    assert rows["debtor"] == ("when 0", "90% true when 0, 10% true when 1")
    assert "owner: 68% true when 1, 4% true when 0" in str(tree)
    assert "share is large: not true below 0, half true at 0.5, fully true above 1" in str(
        Tree.parse("share[0 at 0, 1 at 1]")
    )
