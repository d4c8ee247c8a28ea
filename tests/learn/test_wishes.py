"""The expert's say: what is asked for is in the tree, and contradictions are refused by naming both sides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Ramp, Sigmoid, Table
from baconlogic.learn import encode, validate
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search import Growth, Peel, Sinkhorn

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(0.0, 10.0, (300, 4)), columns=["a", "b", "c", "d"])
Y = (((X["a"] > 4.0) & (X["b"] > 3.0)) | (X["c"] > 8.0)).to_numpy()
TYPED = "HC(a[half at 4, slope 2], b[half at 3, slope 2])"


def fit(X=X, y=Y, **asked):
    return BaconClassifier(**{"random_state": 0, "max_leaves": 4} | asked).fit(X, y)


def gates(tree):
    return [node for _, node in tree.walk() if isinstance(node, Gate)]


def leaves(tree):
    return [node for _, node in tree.walk() if isinstance(node, Leaf)]


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdca", "da", "c"])
@pytest.mark.parametrize("criteria", ["learned", "sigmoid", "minmax"])
def test_order_ranks(order, criteria):
    clf = fit(order=list(order), criteria=criteria)
    assert clf.tree_.features == tuple(order)
    assert len(leaves(clf.tree_)) == len(order)


def test_order_is_kept_by_the_papers_search():
    search = Sinkhorn(attempts=1, acceptance_threshold=0.0, max_epochs=60)
    tree = fit(order=list("dabc"), search=search).tree_
    assert [leaf.feature for leaf in leaves(tree)] in (list("dabc"), list("cbad"))


@pytest.mark.parametrize("wish", ["order", "required"])
def test_a_wish_for_a_column_of_one_value_is_refused(wish):
    with pytest.raises(ValueError, match=f"^{wish} names 'k', which has one value only; nothing can be learned from"):
        fit(X.assign(k=1.0), **{wish: ["a", "k"]})


@pytest.mark.parametrize("direction", ["rising", "falling"])
@pytest.mark.parametrize("criteria", ["learned", "sigmoid", "minmax"])
def test_directions_are_kept_even_if_wrong(direction, criteria):
    names = dict.fromkeys("abcd", direction)
    for asked in (direction, names):
        clf = fit(directions=asked, criteria=criteria, max_leaves=2)
        values = np.tile(np.linspace(0.0, 10.0, 20)[:, None], (1, 4))
        truths = clf.truth(pd.DataFrame(values, columns=list("abcd")))
        assert (np.diff(truths if direction == "rising" else -truths) >= -1e-12).all()


def test_learn_is_the_direction_of_what_is_not_said():
    assert fit(directions={"a": "learn"}).decision_ == fit().decision_


@pytest.mark.parametrize("search", ["auto", "growth"])
def test_required_features_are_used(search):
    for size in (1, 2, 3):
        clf = fit(required=["d"], max_leaves=size, search=search)
        assert all("d" in entry.tree.features for entry in clf.path_)
        assert clf.path_[-1].leaves <= size


@pytest.mark.parametrize("search", ["auto", "growth", "peel"])
def test_forbidden_features_are_not_used(search):
    assert not {"a", "c"} & set(fit(forbidden=["a", "c"], search=search).tree_.features)


def test_all_forbidden_leaves_the_base_rate():
    clf = fit(forbidden=list("abcd"))
    assert not clf.history_.logic
    assert np.allclose(clf.predict_proba(X)[:, 1], Y.mean(), atol=1e-3)


@pytest.mark.parametrize(("low", "high"), [(0.75, 2.0), (-1.0, 0.25), (0.5, 0.5)])
@pytest.mark.parametrize("search", ["auto", "growth", "peel"])
def test_andness_of_the_tree_bounds_every_gate(low, high, search):
    for asked in ((low, high), {None: (low, high)}):
        found = gates(fit(andness=asked, max_leaves=3, search=search).tree_)
        assert all(low - 1e-6 <= gate.andness <= high + 1e-6 for gate in found)


def test_andness_of_a_feature_bounds_the_gate_it_enters():
    clf = fit(andness={"a": (0.75, 2.0), None: (-0.5, 2.0)}, required=["a"], max_leaves=4)
    for entry in clf.path_:
        for gate in gates(entry.tree):
            assert gate.andness >= -0.5 - 1e-6
            if any(isinstance(node, Leaf) and node.feature == "a" for node in gate.inputs):
                assert gate.andness >= 0.75 - 1e-6


@pytest.mark.parametrize("required", [[], ["a", "b"]])
def test_features_whose_andness_excludes_each_other_do_not_share_a_gate(required):
    asked = {"a": (-1.0, 0.25), "b": (0.75, 2.0), "c": (0.4, 0.6)}
    for entry in fit(andness=asked, required=required, search="growth").path_:
        for gate in gates(entry.tree):
            for leaf in (node for node in gate.inputs if isinstance(node, Leaf)):
                low, high = asked.get(leaf.feature, (-1.0, 2.0))
                assert low - 1e-6 <= gate.andness <= high + 1e-6


def test_without_reuse_no_feature_comes_twice():
    for entry in fit(reuse=False, max_leaves=None).path_:
        used = [leaf.feature for leaf in leaves(entry.tree)]
        assert len(set(used)) == len(used)


def test_init_is_refined_in_its_structure():
    clf = fit(init=Tree.parse("HD(HC(a, b), c)"))
    assert clf.history_.search == "refine"
    assert [leaf.feature for leaf in leaves(clf.tree_)] == ["a", "b", "c"]
    assert clf.score(X, Y) > 0.95
    centres = {leaf.feature: leaf.criterion.inverse(0.5) for leaf in leaves(clf.tree_)}
    assert centres == pytest.approx({"a": 4.0, "b": 3.0, "c": 8.0}, abs=1.0)


def test_calibrate_keeps_init_exactly():
    tree = Tree.parse(TYPED)
    clf = fit(init=tree, search="calibrate")
    assert clf.tree_ == tree
    assert np.array_equal(clf.truth(X), tree.evaluate(X))
    assert clf.score(X, Y) > 0.75


def test_calibrate_keeps_init_of_many_rows_too(monkeypatch):
    """The link of a tree that was refined on all rows would be that of another tree."""
    monkeypatch.setattr(validate, "MOST_ROWS", 50)
    monkeypatch.setattr(validate, "polish", None)
    tree = Tree.parse(TYPED)
    clf = fit(init=tree, search="calibrate")
    assert clf.tree_ == tree


def test_growth_starts_from_init_and_grows():
    clf = fit(init=Tree.parse("HC(a, b)"), search="growth")
    assert clf.path_[0].leaves == 2
    assert set(clf.path_[0].tree.features) == {"a", "b"}
    assert clf.score(X, Y) > 0.95


def test_ramps_are_kept_and_other_leaves_learned():
    told = X.assign(k=np.where(X["c"] > 8.0, "high", "low"))
    tree = Tree.parse('HD(HC(a[0 at 3, 1 at 5], b), k[1 if "high", 0 if "low"])')
    found = {leaf.feature: leaf.criterion for leaf in leaves(fit(told, init=tree).tree_)}
    assert found["a"] == Ramp([(3.0, 0.0), (5.0, 1.0)])
    assert isinstance(found["b"], Sigmoid)
    assert [category for category, _ in found["k"].truths] == ["high", "low"]
    assert all(0.0 < truth < 1.0 for _, truth in found["k"].truths)


def test_a_typed_tree_keeps_its_gates_names_and_negations():
    told = X.assign(k=np.where(X["c"] > 8.0, "high", "low"))
    table = Leaf("k", Table({"high": 0.8, "low": 0.3, "never": 0.31}, other=0.4), "kind")
    three = Gate([Leaf("a", Sigmoid(4.0, 1.0), "large a"), Not(Leaf("b"), name="no b"), table], "HC", name="all three")
    tree = Tree(
        Gate([Not(three, name="against"), Leaf("c", Ramp([(7.0, 0.0), (9.0, 1.0)]))], "HD", name="the decision")
    )
    found = fit(told, init=tree).tree_
    for path, node in tree.walk():
        assert (type(found[path]), found[path].name) == (type(node), node.name)
        assert len(found[path].children) == len(node.children)
    assert found[1,] == tree[1,]
    truths = dict(found[0, 0, 2].criterion.truths)
    assert (truths["never"], found[0, 0, 2].criterion.other) == (0.31, 0.4)
    assert truths["high"] != 0.8


def test_a_bare_leaf_on_text_gets_a_table():
    told = X.assign(k=np.where(Y, "high", "low"))
    clf = fit(told, init=Tree.parse("HC(k, a)"))
    assert isinstance(leaves(clf.tree_)[0].criterion, Table)
    assert clf.score(told, Y) == 1.0


SIGMOIDS = [
    f"{name}[half at {centre}, slope {slope}]"
    for name, centre, slope in zip("abcd", (4, 3, 8, 2), (1, 2, 1, -1), strict=True)
]


def started(tree):
    """The tree that a search starts from, in raw units."""
    columns = encode.read(Columns(X), np.ones(len(X)))
    sources = [encode.Source(i) for i in range(4)]
    draft = encode.draft_of(tree, columns, sources)
    return Tree(encode.root_of(draft, columns, sources, [np.empty(0)] * 4, "gcd"))


@given(
    st.sampled_from([-0.8, 0.05, 0.2, 0.5, 0.8, 0.857, 0.95, 1.3]),
    st.lists(st.floats(0.5, 1.5), min_size=2, max_size=4),
    st.lists(st.booleans(), min_size=5, max_size=5),
)
@settings(max_examples=40)
def test_a_search_starts_from_what_was_typed_n_ary_and_negated_gates_too(andness, weights, negated):
    weights = weights[:2] if andness < -1 / 3 else weights  # the andness of more inputs does not go that far
    weights = [weight / sum(weights) for weight in weights]
    inputs = [f"{'not ' if no else ''}{leaf}: {w!r}" for no, leaf, w in zip(negated, SIGMOIDS, weights, strict=False)]
    tree = Tree.parse(f"{'not ' if negated[-1] else ''}{andness}({', '.join(inputs)})")
    assert np.allclose(started(tree).evaluate(X), tree.evaluate(X), atol=0.01)


def test_warm_start_goes_on_from_the_last_trees():
    clf = fit(warm_start=True, search="growth", max_leaves=3)
    first = clf.tree_
    clf.set_params(search="refine", init=first, max_leaves=None).fit(X, Y)
    again = fit(warm_start=True, search="growth", max_leaves=3).fit(X, Y)
    assert again.path_[0].leaves == len(leaves(first))
    assert again.score(X, Y) >= clf.score(X, Y) - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("changed", [
    {"forbidden": ["a"]}, {"max_leaves": 1}, {"order": ["d", "a"]}, {"search": "peel"}, {"directions": "falling"},
    {"aggregator": "exact"}, {"andness": (0.5, 0.5)},
])  # fmt: skip
def test_a_warm_start_yields_to_what_is_asked_now(changed):
    clf = fit(warm_start=True)
    assert clf.set_params(**changed).fit(X, Y).decision_ == fit(**changed).decision_


def test_a_warm_start_does_not_mind_other_classes_or_columns():
    clf = fit(warm_start=True)
    three = Y.astype(int) + (X["d"] > 5.0)
    assert clf.fit(X, three).classes_.tolist() == [0, 1, 2]
    assert clf.fit(X[["a", "b"]], Y).n_features_in_ == 2


@pytest.mark.slow
@pytest.mark.parametrize("now", [X["d"], np.where(X["d"] > 5.0, "x", None), np.where(X["d"] > 5.0, 1.0, np.nan)])
@pytest.mark.parametrize("then", [np.where(Y, "x", "y"), Y, X["c"]])
def test_a_warm_start_does_not_mind_what_a_column_holds_now(then, now):
    clf = fit(X.assign(a=then), warm_start=True)
    assert clf.fit(X.assign(a=now), Y).score(X.assign(a=now), Y) > 0.7


CONTRADICTIONS = [
    ({"required": ["a"], "forbidden": ["a"]}, "'a' is in required and in forbidden; take it out of one of them"),
    ({"order": ["a"], "forbidden": ["a"]}, "'a' is in order and in forbidden; take it out of one of them"),
    ({"order": ["a"], "required": ["b"]}, "'b' is required, but order, which names all features to use, lacks it"),
    ({"required": ["a", "b"], "max_leaves": 1}, "required names 2 features, but max_leaves is 1"),
    ({"order": ["a", "b"], "max_leaves": 1}, "order names 2 features, but max_leaves is 1"),
    ({"order": ["a"], "init": Tree.parse(TYPED)}, "order and init both state the structure; give one of them"),
    ({"init": Tree.parse(TYPED), "required": ["c"]}, "'c' is required, but init does not use it"),
    ({"init": Tree.parse(TYPED), "forbidden": ["a"]}, "'a' is forbidden, but init uses it"),
    ({"init": Tree.parse(TYPED), "max_leaves": 1}, "init has 2 leaves, but max_leaves is 1"),
    ({"init": Tree.parse(TYPED), "andness": (0, 0.5)}, "init has a gate of andness 0.857143, but andness asks for [0, 0.5]"),  # noqa: E501
    ({"init": Tree.parse(TYPED), "andness": {"a": (0, 0.5)}},
     "init has a gate of andness 0.857143, but andness for 'a' asks for [0, 0.5]"),
    ({"init": Tree.parse(TYPED), "directions": {"a": "falling"}},
     "directions asks for 'a' falling, but init has it rising"),
    ({"init": Tree.parse("HC(a, not b)"), "directions": "rising"},
     "directions asks for 'b' rising, but init has it falling"),
    ({"init": Tree.parse(TYPED), "aggregator": "exact"},
     "init has a gate of aggregator 'gcd', but aggregator='exact'; make them equal"),
    ({"andness": {"a": (0.75, 2), None: (0, 0.5)}}, "andness (0.75, 2) for 'a' lies outside that of the tree, (0, 0.5)"),  # noqa: E501
    ({"order": ["c", "a", "b"], "andness": {"a": (0.75, 2), "b": (-1, 0.25)}},
     "order puts 'a' (0.75, 2) and 'b' (-1, 0.25) into one gate, but their andness excludes each other"),
    ({"andness": {"a": (0.75, 2)}, "forbidden": ["a"]},
     "andness is stated for 'a', which is forbidden; take it out of one of them"),
    ({"order": ["a", "b"], "search": "growth"},
     "order states a structure, which search='growth' would not keep; use search='refine'"),
    ({"order": ["a", "b"], "search": Growth()},
     "order states a structure, which search='growth' would not keep; use search='refine'"),
    ({"init": Tree.parse(TYPED), "search": Peel()},
     "init states a structure, which search='peel' would not keep; use search='refine'"),
    ({"init": Tree.parse(TYPED), "search": "sinkhorn"},
     "init states a structure, but search='sinkhorn' has its own; use search='refine' or 'growth'"),
    ({"required": ["a"], "search": "peel"},
     "'a' is required, which search='peel' does not promise; use search='auto'"),
    ({"search": "sinkhorn", "max_leaves": 3},
     "search='sinkhorn' uses all 4 features, but max_leaves is 3; forbid some"),
    ({"search": "sinkhorn", "andness": (0.5, 1)},
     "andness is bounded, but search='sinkhorn' learns it freely; use search='auto' or 'growth'"),
    ({"search": "refine"}, "search='refine' needs a tree to start from: give init=Tree.parse(...) or order=[...]"),
    ({"search": "calibrate", "order": ["a"]}, "search='calibrate' keeps a tree as it is: give init=Tree.parse(...)"),
    ({"search": "calibrate", "init": Tree.parse("HC(a, b)")},
     "search='calibrate' keeps init as it is, but its leaf 'a' has no criterion; state it, or use search='refine'"),
    ({"order": ["a", "a"]}, "order names 'a' twice"),
    ({"order": ["A"]}, "order names 'A', which is not a column; the table has 'a', 'b', 'c', 'd'"),
    ({"order": "a"}, "order must be a list of feature names, got 'a'"),
    ({"required": 3}, "required must be a list of feature names, got 3"),
    ({"directions": {"a": "up"}}, "the direction of 'a' must be 'rising', 'falling' or 'learn', got 'up'"),
    ({"directions": {"a": ["up"]}}, "the direction of 'a' must be 'rising', 'falling' or 'learn', got ['up']"),
    ({"directions": ["a"]}, "directions must be a mapping of feature names to values, got ['a']"),
    ({"andness": 0.5}, "andness must be a pair (lowest, highest), e.g. (0.75, 2) for hard conjunction, got 0.5"),
    ({"andness": (1, 0)}, "andness must be (lowest, highest) within [-1, 2], got (1, 0)"),
    ({"andness": (float("nan"), 1)}, "andness must be (lowest, highest) within [-1, 2], got (nan, 1)"),
    ({"init": "HC(a, b)"}, "init must be a Tree, e.g. Tree.parse('HC(a, b)'), got 'HC(a, b)'"),
    ({"init": Tree.parse("HC(a, z)")}, "init names 'z', which is not a column; the table has 'a', 'b', 'c', 'd'"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "says"), CONTRADICTIONS, ids=[says[:60] for _, says in CONTRADICTIONS])
def test_contradictions_are_refused_in_one_line_that_names_both_sides(asked, says):
    with pytest.raises((ValueError, TypeError)) as refused:
        fit(**{"max_leaves": None} | asked)
    assert str(refused.value) == says


@pytest.mark.parametrize(("formula", "says"), [
    ("HC(k[half at 1, slope 1], a)", "init reads 'k' as a number, but the column holds text; type a table"),
    ('HC(k[1 if "high"], a)', "column 'k': the category 'low' is not in the table ('high'); add it, or state `other`"),
    ("HC(h[0 at 2, 1 at 5], a)", "column 'h': the value is missing and no truth for missing values is stated; "
     "add `missing 0.5` to the criterion's brackets, fill the value in, or ask bounds() for the range"),
])  # fmt: skip
def test_a_typed_criterion_that_does_not_suit_its_column_is_refused_by_name(formula, says):
    told = X.assign(k=np.where(Y, "high", "low"), h=np.where(X["d"] > 5.0, X["d"], np.nan))
    with pytest.raises(ValueError, match="column") as refused:
        fit(told, init=Tree.parse(formula))
    assert str(refused.value) == says


def test_a_wish_that_the_search_had_no_time_for_is_said():
    said = "^the tree for True has no leaf for '[abc]', which is required: the search had to end early$"
    with pytest.warns(UserWarning, match=said):
        fit(search="growth", required=["a", "b", "c"], time_budget=1e-6)


def test_wishes_that_no_tree_grants_are_said():
    said = r"^the tree for True has a gate of andness .* asks for \[.*\]: no tree was found that grants all wishes$"
    with pytest.warns(UserWarning, match=said):
        fit(X[["a", "b"]], required=["a", "b"], andness={"a": (0.8, 1.2), "b": (0.0, 0.2)}, max_leaves=2)
