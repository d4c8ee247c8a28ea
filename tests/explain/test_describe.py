import itertools
import re

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
    for feature in tree.features:
        assert one_line(feature) in " ".join(found.sentences) or not found.sentences
        assert any(row.feature == feature for row in found.features)
    assert all(text.isprintable() for text in (found.summary, *found.sentences))
    assert found.summary.endswith(".")
    assert str(found).split("\n") == list(found.lines)
    assert all(line.isprintable() for line in found.lines)
    if 0 <= threshold < 1:
        for feature in tree.features:
            assert one_line(feature) in str(found)


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
        "the cell is large: area high (about 590 to 1170) or radius high (about 13.6 to 19.4); and its outline is "
        "irregular: any of: dents high (about 0.08 to 0.2) at 80%; or concavity high (half at 0.3, nearly in full at "
        "0.63) at 20%."
    )
    assert found.sentences == (
        "Overall: must have all of: the cell is large and its outline is irregular, equally (HC).",
        "The cell is large: enough to have any of: area above about 880 or radius above about 16.5, equally (HD).",
        "Its outline is irregular: enough to have any of: dents above about 0.14 [80%, most weight]; or concavity "
        "above about 0.3 [20%, little weight] (HD).",
    )


def test_a_graded_card_is_a_list_with_weights_where_they_differ():
    band, colour = "x[0 at 3, 1 at 4], x[1 at 5, 0 at 6]", 'k[1 if "red", 0.3 if "blue", missing 0.2]'
    tree = Tree.parse(f"HC({band}, not HC(a, b), {colour})")
    found = describe(tree)
    assert found.form == "graded"
    assert str(found) == "\n".join(
        [
            "Yes when it is more than half true that all of these hold:",
            "  50%  x between about 3.5 and 5.5",
            "  25%  not a or not b",
            "  25%  k is red or blue (30%) (unknown counts 20%)",
            "(p%): counts p% of the full.",
        ]
    )
    assert str(describe(Tree.parse("SC(a[0 at 1, 1 at 3], b[1 at 1, 0 at 3])"))).split("\n") == [
        "Yes when it is more than half true that most of these hold: a high (1 to 3) and b low (3 to 1).",
        "(a to b): counts nothing at a, in full at b, in proportion between.",
    ]


def test_a_deep_tree_is_told_in_steps():
    assert str(describe(Tree.parse("HC(a, SD(b, HC(c, d)))"))) == "\n".join(
        [
            "Yes when it is more than half true that all of these hold: a; and group 1 (b, c, d).",
            "1. Overall: must have all of: a; and group 1 (b, c, d), equally (HC).",
            "2. Group 1: nice to have some of: b; or group 2 (c, d), equally (SD).",
            "3. Group 2: must have all of: c and d, equally (HC).",
        ]
    )


def test_a_checklist_counts():
    tree = Tree.parse('A(k[1 if "A11", 1 if "A12", other 0], x[above 24], not smoker, HC(y[up to 3], z), w)')
    found = describe(tree, threshold=0.5, label="refuse")
    assert found.form == "checklist"
    assert str(found) == "\n".join(
        [
            "Refuse when at least 3 of these 5 hold:",
            "- k is A11 or A12",
            "- x above 24",
            "- not smoker",
            "- y at most 3 and z",
            "- w",
        ]
    )
    heads = [describe(tree, threshold=t).lines[0] for t in (0.1, 0.3, 0.9)]
    assert heads == [
        "Yes when any of these holds:",
        "Yes when at least 2 of these 5 hold:",
        "Yes when all of these hold:",
    ]


def test_rules_are_told_without_weights():
    def told(text):
        found = describe(Tree.parse(text))
        assert found.form == "rules"
        return list(found.lines)

    assert told("HD(HC(a[above 1]: 0.9, b[above 2]: 0.1): 0.7, c[up to 3, missing 1]: 0.3)") == [
        "Yes when any of these holds:", "- a above 1 and b above 2", "- c at most 3 or unknown"]  # fmt: skip
    assert told('HC(HD(a, b), not k[1 if "red", other 0], not HC(c, d))') == [
        "Yes when all of these hold:", "- a or b", "- k is not red", "- not c or not d"]  # fmt: skip
    assert told("HD(a, not HD(b, c), not HD(d, e, f))") == [
        "Yes when any of these holds:", "- a", "- neither b nor c", "- none of d, e or f"]  # fmt: skip
    assert told('HC(k[1 if "yes", 0 if "no"], x[above 1])') == ["Yes when k is yes and x above 1."]
    assert told("HD(x[above 1, up to 2], not y[above 1, up to 2])") == [
        "Yes when any of these holds:", "- x above 1 up to 2", "- y at most 1 or above 2"]  # fmt: skip
    assert told("HC(x[above 1], x[up to 2], z)") == ["Yes when x above 1 up to 2 and z."]


def test_a_card_of_eight_leaves_takes_at_most_a_hundred_words():
    ramps = [f"x{i}[0 at {i}, 1 at {i + 2}]" for i in range(8)]
    groups = [f"HD({ramps[0]}, {ramps[1]})", f"HC({ramps[2]}, {ramps[3]})", f"SC({ramps[4]}: 0.6, {ramps[5]}: 0.4)"]
    for root in ("A", "HC", "SD"):
        tree = Tree.parse(
            f"{root}({groups[0]}: 0.3, {groups[1]}: 0.3, {groups[2]}: 0.2, {ramps[6]}: 0.1, {ramps[7]}: 0.1)"
        )
        assert len(str(describe(tree)).split()) <= 100


def test_bands_are_told_together_only_where_both_sides_meet():
    def told(text):
        return describe(Tree.parse(text)).summary

    up, down = "x[0 at 2, 1 at 4]", "x[1 at 4, 0 at 6]"
    assert "x between about 3 and 5" in told(f"HC({up}, y, {down})")
    assert "x between about 3 and 5" in told(f"SC({up}: 0.25, HC(y, z): 0.25, SC(q, {down}): 0.5)")
    assert "x between about 3 and 5" in told(f"HC({up}, not x[0 at 4, 1 at 6])")
    assert "x high (2 to 4) or x low (6 to 4)" in told(f"HD({up}, {down})")
    assert "x below about 3 or above about 5" in told("HD(x[1 at 2, 0 at 4], y, x[0 at 4, 1 at 6])")
    assert "between" not in told(f"A({up}, {down})")
    assert "between" not in told("HC(x[0 at 6, 1 at 8], x[1 at 1, 0 at 3])")
    row = describe(Tree.parse(f"HC({up}, y, {down})")).features[0]
    assert (row.feature, row.where, row.direction) == ("x", "between about 3 and 5", "in between")


@given(st.sampled_from(["HC", "SC-", "SD", "HD+"]), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_a_band_is_told_only_where_its_sides_weigh_the_same_or_their_weights_make_no_difference(gate, w, v, crisp):
    conjunctive, rest = gate in ("HC", "SC-"), 20 - w - v
    below, above = ("x[up to {}]", "x[above {}]") if crisp else ("x[half at {}, slope -1]", "x[half at {}, slope 1]")
    low, high = (above.format(3), below.format(5)) if conjunctive else (below.format(3), above.format(5))
    tree = Tree.parse(f"{gate}({low}: {w / 20}, {high}: {v / 20}, y: {rest / 20})")
    found = describe(tree)
    about = [row for row in found.features if row.feature == "x"]
    together = w == v or (crisp and gate in ("HC", "HD+"))
    assert len(about) == (1 if together else 2)
    assert str(found).count("x ") == len(about)


def test_a_side_of_a_band_that_weighs_less_is_told_by_itself():
    sides = "area[half at 75, slope 0.1]: 0.7, area[half at 120, slope -0.1]: 0.1"
    assert str(describe(Tree.parse(f"SC-({sides}, garden: 0.2)"))).splitlines()[1:4] == [
        "  70%  area high (about 46 to 104)",
        "  20%  garden",
        "  10%  area low (about 149 to 91)",
    ]


def test_a_scorecard_adds_points():
    tree = Tree.parse("A(radius[half at 16, slope 1]: 0.5, texture[half at 20, slope -1]: 0.3, smoker: 0.2)")
    found = describe(tree, threshold=0.45)
    assert found.summary == (
        "Yes when the points add up to more than 4.5 of 10: 5 for radius high (about 13.1 to 18.9), 3 for texture "
        "low (about 22.9 to 17.1) and 2 for smoker."
    )
    card = Tree.parse("A(a[0 at 600, 1 at 1100]: 0.35, b[above 25.7]: 0.35, HD(c, d): 0.3)")
    assert str(describe(card, threshold=0.55, label="malignant")) == "\n".join(
        [
            "Malignant when the points add up to more than 11 of 20:",
            "  7  a high (600 to 1100)",
            "  7  b above 25.7",
            "  6  c or d",
            "(a to b): counts nothing at a, in full at b, in proportion between.",
        ]
    )
    crisp = Tree.parse("A(a: 0.5, b[above 25.7]: 0.25, c: 0.25)")
    assert (
        describe(crisp).summary
        == "Yes when the points add up to at least 3 of 4: 2 for a, 1 for b above 25.7 and 1 for c."
    )
    odd = describe(Tree.parse("A(a: 0.123, b[above 25.7]: 0.877)"))
    assert str(odd) == "\n".join(
        [
            "Yes when the points add up to at least 87.7%:",
            "  87.7%  b above 25.7",
            "  12.3%  a",
            "Never changes the answer, only how sure it is: a.",
        ]
    )
    assert [row.role for row in found.features] == ["neutral"] * 3


RANK = 'rank[0.5 if "associate", 0 if "assistant", 1 if "full"]'


@pytest.mark.parametrize(
    ("text", "threshold", "needs"),
    [
        (f"A({RANK}: 0.85, field: 0.15)", 0.796, "at least 17 of 20"),
        (f"A({RANK}: 0.85, field: 0.15)", 0.5, "at least 11.5 of 20"),
        ("A(a: 0.55, b: 0.25, c: 0.2)", 0.765, "at least 16 of 20"),
        ("A(a: 0.55, b: 0.25, c[0 at 1, 1 at 2]: 0.2)", 0.765, "at least 16 of 20"),  # 11 + 4 are 15, 11 + 5 are 16
        ("A(a: 0.5, b: 0.25, c[0 at 1, 1 at 2]: 0.25)", 0.765, "more than 3.06 of 4"),
        ("A(a: 0.55, b[0 at 1, 1 at 2]: 0.45)", 0.749, "more than 14.98 of 20"),  # 15 are enough
        ("A(a: 0.55, b[0 at 1, 1 at 2]: 0.45)", 0.74999, "more than 14.9998 of 20"),
        ("A(a: 0.75, b[above 1, missing 0.5]: 0.25)", 0.8, "at least 3.5 of 4"),
    ],
)
def test_points_that_can_be_reached_are_what_is_asked_for(text, threshold, needs):
    assert f"the points add up to {needs}:" in describe(Tree.parse(text), threshold=threshold).summary


def test_points_that_never_decide_are_noticed():
    def noticed(text, threshold):
        return [line for line in describe(Tree.parse(text), threshold=threshold).lines if line.startswith("Never")]

    assert noticed(f"A({RANK}: 0.85, field: 0.15)", 0.796) == ["Never changes the answer, only how sure it is: field."]
    assert noticed(f"A({RANK}: 0.85, field: 0.15)", 0.5) == []  # an associate needs it
    both = noticed("A(a: 0.8, b[above 3]: 0.1, not c: 0.1)", 0.5)
    assert both == ["Never changes the answer, only how sure it is: b above 3 and not c."]
    assert noticed("A(a[0 at 0, 1 at 1]: 0.8, b[above 3]: 0.1, not c: 0.1)", 0.5) == []


@given(
    weights=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    graded=st.lists(st.booleans(), min_size=5, max_size=5),
    threshold=st.floats(0.0, 0.99),
)
def test_what_is_said_of_points_holds_for_every_row(weights, graded, threshold):
    total = sum(weights)
    leaves = [f"x{i}[0 at 0, 1 at 4]" if graded[i] else f"x{i}[above 2]" for i in range(len(weights))]
    tree = Tree.parse(f"A({', '.join(f'{x}: {w / total!r}' for x, w in zip(leaves, weights, strict=True))})")
    lines = describe(tree, threshold=threshold).lines
    rows = np.array(list(itertools.product(range(5), repeat=len(weights))), dtype=float)
    X = {f"x{i}": rows[:, i] for i in range(len(weights))}
    truths = tree.evaluate(X)
    yes = truths > threshold
    needs = re.search(r"at least ([\d.]+)(%| of (\d+))", lines[0])
    if needs is not None and np.abs(truths - threshold).min() > 1e-6 and needs[3] and "of these" not in lines[0]:
        assert np.array_equal(truths * float(needs[3]) > float(needs[1]) - 1e-6, yes)
    idle = [line for line in lines if line.startswith("Never")]
    for i in range(len(weights)):
        if idle and re.search(rf"\bx{i}\b", idle[0]):
            same = np.delete(rows, i, axis=1)
            order = np.lexsort(same.T)
            assert all(len(set(each)) == 1 for each in yes[order].reshape(-1, 5))


def test_ends_that_no_value_may_have_are_not_told():
    days = describe(Tree.parse("A(days[half at 0.4, slope 1]: 0.6, age[half at 40, slope -0.1]: 0.4)")).lines
    assert days[1:] == (
        "  3  days high (half at 0.4, nearly in full at 3.3)",
        "  2  age low (about 69 to 11)",
        "(about a to b): counts next to nothing at a, nearly in full at b.",
    )
    falling = describe(Tree.parse('SC(not days[half at 0.4, slope 1, unit "d"], b)')).summary
    assert "days low (half at 0.4, next to nothing at 3.3 d)" in falling
    assert "-0" not in describe(Tree.parse("SC(price[half at 2100, slope -0.0014], b)")).summary


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


@given(st.sampled_from(["C", "HC", "SC", "SD-", "HD"]), st.integers(1, 19), st.integers(1, 19))
def test_gates_that_are_told_as_one_weigh_what_the_tree_says_and_add_up_to_100(gate, outer, inner):
    u, v = outer / 20, inner / 20
    ramps = {name: f"{name}[0 at 1, 1 at 3]" for name in "abc"}
    tree = Tree.parse(f"{gate}({gate}({ramps['a']}: {v}, {ramps['b']}: {1 - v}): {u}, {ramps['c']}: {1 - u})")
    told = {name: float(share) for share, name in re.findall(r"([\d.]+)%  ([abc]) ", str(describe(tree)))}
    if told:
        assert sum(told.values()) == pytest.approx(100.0)
        assert all(abs(told[row.leaf.feature] - 100 * row.weight) < 1.0 for row in leaf_roles(tree))


@pytest.mark.parametrize(
    ("tree", "marks"),
    [
        ("C(C(w[0 at 1, 1 at 3], v[0 at 1, 1 at 3]): 0.6, l[0 at 2, 1 at 5]: 0.4)", ["40%", "30%", "30%"]),
        ("SD-(SD-(a: 0.7, b: 0.3): 0.45, c: 0.55)", ["55%", "32%", "13%"]),
        ("SD(a: 0.997, b: 0.003)", ["99.7%", "0.3%"]),
        ("SD(a: 0.99999, b: 0.00001)", [">99.99%", "<0.01%"]),
    ],
)
def test_percentages_that_are_told_together_add_up(tree, marks):
    assert [line.split()[0] for line in describe(Tree.parse(tree)).lines if "%" in line] == marks


@pytest.mark.parametrize(
    ("tree", "summary"),
    [
        (Tree("a"), "Yes when a is more than half true."),
        (Tree.parse("not a"), "Yes when a is less than half true."),
        (Tree(Leaf("x", Ramp.between(1, 3, unit="mm"))), "Yes when x is above about 2 mm."),
        (Tree(Not(Leaf("x", Ramp.between(1, 3)))), "Yes when x is below about 2."),
        (Tree(Leaf("x", Sigmoid(5, 1), "tall")), "Yes when tall (x is above about 5)."),
        (Tree(Not(Leaf("x", Sigmoid(5, 1), "tall"))), "Yes when not tall (x is below about 5)."),
        (Tree(Leaf("k", Table({"a": 1, "b": 0}))), "Yes when k is a."),
        (Tree(Leaf("k", Table({"a": 0}, other=1))), "Yes when k is not a."),
        (Tree(Leaf("k", Table({"a": 0.2}))), "Yes when it is more than half true that k is a (20%)."),
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
    assert describe(two).summary == "The answer is 1 when a and b."
    many = Decision(
        (tree,) * 3, (Link(8.0, 0.4),) * 3, ("p", "q", "r"), (Feature("a", "number"), Feature("b", "number"))
    )
    assert describe(many, label="q").summary == "Q when a and b."
    with pytest.raises(ValueError, match="give label="):
        describe(many)


def test_names_of_negations_name_the_opposite():
    tree = Tree(Gate([Not(Gate(["a", "b"], "HC"), "lacking"), "c"], "HC"))
    assert describe(tree).summary.endswith("all of these hold: lacking: not a or not b; and c.")
    again = Tree(Gate([Not(Not(Gate(["a", "b"], "HC"), "lacking")), "c"], "HC"))
    assert describe(again).summary.endswith("all of these hold: not lacking (not a or not b); and c.")
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
    assert str(Tree.parse("share[0 at 0, 1 at 1]")) == "share high (0 to 1)"
