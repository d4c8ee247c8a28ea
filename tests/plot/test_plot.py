"""Pictures: they draw what they say, texts never cover each other, and nothing outside is touched."""

import itertools
import subprocess
import sys
import warnings
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from strategies import trees

from baconlogic import Gate, Leaf, Not, Tree, plot
from baconlogic.core.criteria import Ramp, Sigmoid, Table
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.core.gcd import gcd

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch
from matplotlib.transforms import Bbox

CODES = ("HC+", "SD", "A", "HHC", "DD")
LONG = "the largest of all the measured distances from the centre to the rim (in mm), number "


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def leaf(i, name):
    kinds = [Sigmoid(1.5 * i + 0.123, 1 + i), Ramp.between(3, 0, unit="mm"), Table({"red": 1, "blue": 0.4}), None]
    return Leaf(f"{name}{i}", kinds[i % 4])


def bushy(n, name="feature"):
    level, k = [leaf(i, name) for i in range(n)], 0
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        k += 1
        level = [Gate(pair, CODES[(i + k) % 5], [0.3, 0.7]) if len(pair) == 2 else Not(pair[0])
                 for i, pair in enumerate(pairs)]  # fmt: skip
    return Tree(level[0])


def chain(n, name="feature"):
    node = leaf(0, name)
    for i in range(1, n):
        node = Gate([node, leaf(i, name)], CODES[i % 5], [0.871, 0.129])
    return Tree(node)


def flat(n, name="feature"):
    return Tree(Gate([leaf(i, name) for i in range(n)], "A", [2 * (i + 1) / n / (n + 1) for i in range(n)]))


def row(tree):
    """One case for such a tree."""
    leaves = [node for _, node in tree.walk() if isinstance(node, Leaf)]
    return {each.feature: "blue" if each.criterion.categorical else 0.75 for each in leaves}


def boxes_of(ax, kind):
    return [patch for patch in ax.patches if isinstance(patch, kind)]


def overlaps(a, b, slack=0.0):
    """Which boxes (x0, y0, x1, y1) of two lists share more than `slack` pixels, (a, b)."""
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    return (high - low > slack).all(axis=2)


def check_legible(ax):
    """No text covers another, leaves the figure, or is cut by a frame or a line."""
    figure = ax.get_figure()
    texts = [text for text in ax.texts if text.get_text().strip()]
    said = np.array([text.get_text() for text in texts])
    boxes = np.array([text.get_window_extent().extents for text in texts])
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= figure.bbox.size).all()
    assert not [said[[i, j]] for i, j in np.argwhere(overlaps(boxes, boxes, 1.0)) if i < j]
    frames = np.array([patch.get_window_extent().extents for patch in boxes_of(ax, FancyBboxPatch)])
    inside = (boxes[:, None, :2] >= frames[:, :2]).all(axis=2) & (boxes[:, None, 2:] <= frames[:, 2:]).all(axis=2)
    touching = overlaps(boxes, frames)
    assert not said[(touching & ~inside).any(axis=1)].tolist()
    lines = [patch.get_path().transformed(patch.get_transform()) for patch in boxes_of(ax, PathPatch)]
    for text, (x0, y0, x1, y1) in zip(said[~touching.any(axis=1)], boxes[~touching.any(axis=1)], strict=True):
        ink = Bbox.from_extents(x0, y0 + 0.3 * (y1 - y0), x1, y1 - 1.0)
        assert not any(line.intersects_bbox(ink, filled=False) for line in lines), text


@pytest.mark.parametrize("name", ["feature", LONG], ids=["short", "long"])
@pytest.mark.parametrize("leaves", [1, 2, 7, 20])
@pytest.mark.parametrize("shape", [bushy, chain, flat])
def test_texts_of_a_tree_never_overlap(shape, leaves, name):
    tree = shape(leaves, name) if leaves > 1 else bushy(1, name)
    for case in (None, row(tree)):
        ax = plot.tree(tree, case=case)
        check_legible(ax)
        assert min(text.get_fontsize() for text in ax.texts) >= 8.0
        plt.close(ax.get_figure())


@settings(max_examples=25, deadline=None)
@given(trees)
def test_texts_of_any_tree_never_overlap(tree):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # names in scripts that the font does not have
        check_legible(plot.tree(tree))
    plt.close("all")


def test_a_tree_keeps_legible_on_small_axes_and_at_a_given_width():
    for width in (3.5, 7.0, 20.0):
        ax = plot.tree(bushy(15), width=width)
        assert ax.get_figure().get_size_inches()[0] == pytest.approx(width)
        check_legible(ax)
    _, axes = plt.subplots(1, 2, figsize=(9, 4))
    assert plot.tree(bushy(7), axes[0]) is axes[0]
    check_legible(axes[0])


def test_a_tree_shows_features_codes_words_andness_weights_and_the_decision():
    tree = Tree.parse("job = SC(pay = A(salary: 0.7, benefits[0 at 10, 1 at 20]: 0.3): 0.6, not interests: 0.4)")
    ax = plot.tree(tree)
    said = {text.get_text() for text in ax.texts}
    assert {"salary", "benefits", "not interests", "job", "pay", "70%", "30%", "60%", "40%"} <= said
    assert {"SC   0.64", "A   0.50", "nice to have most", "nice to have", "high (10 to 20)"} <= said
    assert {"yes", "if truth > 0.50", "else no"} <= said
    assert len(boxes_of(ax, FancyBboxPatch)) == 3  # two gates and the decision
    assert len(boxes_of(ax, Circle)) == 1  # the negated leaf
    widths = [line.get_linewidth() for line in boxes_of(ax, PathPatch)]
    assert len(widths) == 5
    assert widths[0] > widths[1]  # 70% and 30%


def test_a_negated_gate_has_a_box_of_its_own():
    ax = plot.tree(Tree(Gate([Not(Gate(["a", "b"], "C")), "c"], "D")))
    assert "not" in {text.get_text() for text in ax.texts}
    assert len(boxes_of(ax, FancyBboxPatch)) == 4


def test_a_case_shows_every_truth_and_the_decision():
    tree = Tree.parse("SC(A(salary: 0.7, benefits: 0.3): 0.6, not interests: 0.4)")
    case = {"salary": 0.25, "benefits": 0.5, "interests": 0.125}
    truths = tree.evaluate({name: [value] for name, value in case.items()}, nodes=True)
    ax = plot.tree(tree, case=case, threshold=0.3)
    said = [text.get_text() for text in ax.texts]
    assert f"truth {truths[()][0]:.2f}" in said
    assert f"truth {truths[0,][0]:.2f}" in said
    assert f"truth {truths[()][0]:.2f} > 0.30" in said
    assert "yes" in said
    assert "0.88" in said  # not 0.125
    assert "salary = 0.25" in said
    bars = [patch.get_width() for patch in ax.patches if patch.get_gid() == "truth"]
    assert len(bars) == 5
    greys = [np.mean(line.get_edgecolor()[:3]) for line in boxes_of(ax, PathPatch)]
    assert greys[0] > greys[1]  # truth 0.25 is paler than 0.5
    no = [text.get_text() for text in plot.tree(tree, case=case, threshold=truths[()][0]).texts]
    assert "no" in no  # the threshold itself is not passed
    assert any("≤" in text for text in no)


def test_a_truth_near_the_threshold_is_not_rounded_to_it():
    said = [text.get_text() for text in plot.tree(Tree("a"), case={"a": 0.5001}).texts]
    assert "truth 0.5001 > 0.5000" in said


def test_a_decision_speaks_of_its_classes():
    features = [Feature("a", "truth"), Feature("b", "truth")]
    decision = Decision([Tree.parse("C(a, b)")], [Link(9.0, 0.4)], ("benign", "malignant"), features)
    said = [text.get_text() for text in plot.tree(decision).texts]
    assert {"malignant", "if truth > 0.40", "else benign"} <= set(said)


def test_dollars_are_no_mathematics():
    texts = [text for text in plot.tree(Tree("price in $ per $")).texts if "$" in text.get_text()]
    assert texts
    assert not any(text.get_parse_math() for text in texts)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = {"a": rng.random(60), "b": rng.random(60)}
    return Tree.parse("SC(a: 0.7, b: 0.3)"), X, 0.7 * X["a"] + 0.3 * X["b"] + 0.1 * rng.standard_normal(60) > 0.5


def labels_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_truths_are_sorted_and_errors_counted(data):
    tree, X, y = data
    ax = plot.truths(tree, X, y, threshold=0.45)
    truths = tree.evaluate(X)
    wrongly_yes, wrongly_no = np.sum((truths > 0.45) & ~y), np.sum((truths <= 0.45) & y)
    assert wrongly_yes
    assert wrongly_no
    assert labels_of(ax) == [
        f"actually no: {np.sum(~y)}", f"actually yes: {np.sum(y)}", f"wrongly yes: {wrongly_yes}",
        f"wrongly no: {wrongly_no}", "threshold 0.45",
    ]  # fmt: skip
    no, yes, *wrong, line = ax.lines
    assert (np.sort(np.concatenate([no.get_ydata(), yes.get_ydata()])) == np.sort(truths)).all()
    place = np.concatenate([no.get_xdata(), yes.get_xdata()])
    assert (np.diff(np.concatenate([no.get_ydata(), yes.get_ydata()])[np.argsort(place)]) >= 0).all()
    assert [len(each.get_xdata()) for each in wrong] == [wrongly_yes, wrongly_no]
    assert set(line.get_ydata()) == {0.45}
    assert len({each.get_marker() for each in (no, yes, *wrong)}) == 4
    assert [len(strip.get_segments()) for strip in ax.collections] == [np.sum(~y), np.sum(y)]
    assert [text.get_text() for text in ax.texts] == ["no", "yes"]


def test_precision_recall_and_accuracy_are_those_of_each_threshold(data):
    tree, X, y = data
    ax = plot.precision_recall(tree, X, y, threshold=0.45)
    truths = tree.evaluate(X)
    curves = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    assert len(curves) == 3
    for at in (*np.linspace(0, 0.9, 10), 0.45):
        decided = truths > at
        expected = [np.mean(y[decided]) if decided.any() else np.nan, np.mean(decided[y]), np.mean(decided == y)]
        for line, value in zip(curves, expected, strict=True):
            shown = line.get_ydata()[np.searchsorted(line.get_xdata(), at, side="right") - 1]
            assert shown == pytest.approx(value, nan_ok=True)
    assert labels_of(ax)[1] == f"recall ({np.mean(truths[y] > 0.45):.3f})"
    assert any("0.45" in text.get_text() for text in ax.texts)


def test_recall_is_said_to_be_unknown_where_no_case_is_yes(data):
    tree, X, y = data
    assert labels_of(plot.precision_recall(tree, X, y & False))[1] == "recall (no case is actually yes)"


def test_a_chain_too_long_to_save_at_its_own_size_shrinks():
    figure = plot.tree(chain(400)).get_figure()
    assert max(figure.get_size_inches()) <= 300.0


def test_precision_is_said_to_be_unknown_where_nothing_is_decided_yes(data):
    tree, X, y = data
    assert labels_of(plot.precision_recall(tree, X, y, threshold=2.0))[0] == "precision (no case is decided yes)"


@pytest.mark.parametrize(("threshold", "words"), [(157.0, "(never yes)"), (-30.0, "(always yes)")])
def test_a_threshold_that_no_truth_crosses_stretches_no_scale(data, threshold, words):
    """That of a classifier that answers the base rate is often so."""
    tree, X, y = data
    ax = plot.truths(tree, X, y, threshold=threshold)
    assert -0.3 < ax.get_ylim()[0] < ax.get_ylim()[1] < 1.3
    assert labels_of(ax)[-1] == f"threshold {threshold:.2f} {words}"
    ax = plot.precision_recall(tree, X, y, threshold=threshold)
    assert -0.3 < ax.get_xlim()[0] < ax.get_xlim()[1] < 1.3
    assert ax.texts[-1].get_text() == f"decides at {threshold:.2f} {words}"


def test_what_cannot_be_drawn_says_so():
    with pytest.raises(ValueError, match="no panel to draw"):
        plot.surfaces([])
    with pytest.raises(ValueError, match="no level has the code 'XX'; the codes are CC"):
        plot.surfaces(["XX"])
    with pytest.raises(ValueError, match="one class only"):
        plot.path(SimpleNamespace(path_=(), history_=()))


def test_very_large_small_and_steep_numbers_are_drawn_without_warning():
    ax = plot.correlation({"a": [1e-300, 2e-300, 3e-300], "b": [1e300, -1e300, 0.0], "c": [1.0, 2.0, 1.0]})
    names = [text.get_text() for text in ax.get_yticklabels()]
    shown = np.asarray(ax.images[0].get_array())
    assert shown[names.index("a"), names.index("b")] == pytest.approx(-0.5)
    assert [text.get_text() for text in ax.texts].count("0.00") == 2  # a and c, and not as -0.00
    plot.criteria(Tree(Leaf("a", Sigmoid(5e12, 1e9))))[0].get_figure().canvas.draw()


def test_truths_of_many_categories_are_not_printed_over_each_other():
    many = Table({f"kind {i}": i / 12 for i in range(12)})
    ax = plot.criteria(Tree(Leaf("c", many)))[0]
    ax.get_figure().canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def pruning(n=30):
    rows = []
    for order, cost in ("bottom", 0.03), ("best", 0.01):
        accuracy = [0.97 - (0.001 * (n - k) if k > 6 else 0.024 + cost * (7 - k)) for k in range(n, 0, -1)]
        rows += [
            SimpleNamespace(order=order, leaves=k, removed=f"concave_points{k}" if k < n else None, accuracy=value)
            for k, value in zip(range(n, 0, -1), accuracy, strict=True)
        ]
    return SimpleNamespace(rows=tuple(rows))


@pytest.mark.parametrize("leaves", [8, 30])
def test_the_pruning_curve_names_what_costs(leaves):
    ax = plot.pruning_curve(pruning(leaves))
    assert [len(line.get_xdata()) for line in ax.lines] == [leaves, leaves]
    assert ax.get_xlim()[0] > leaves > 1 > ax.get_xlim()[1]  # from many to few
    assert sorted(text.get_text() for text in ax.texts) == sorted(2 * [f"concave_points{k}" for k in range(1, 7)])
    assert max(ax.get_yticks()) <= 1.0 + 1e-9
    ax.get_figure().canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(ax.get_figure().bbox.y0 <= box.y0 and box.y1 <= ax.get_figure().bbox.y1 for box in boxes)


def test_surfaces_are_those_of_the_gates():
    axes = plot.surfaces()
    assert [ax.get_title() for ax in axes] == [
        "C, andness 1.00\nmust have all", "D, andness 0.00\nenough to have any", "HHC, andness 1.90\nmust have all",
        "HHD, andness −0.90\nenough to have any", "A, andness 0.50\nnice to have",  # noqa: RUF001
        "D, andness 0.00, weight of x 80%\nenough to have any",
    ]  # fmt: skip
    for ax, (andness, weight) in zip(
        axes, [(1, 0.5), (0, 0.5), (1.9, 0.5), (-0.9, 0.5), (0.5, 0.5), (0, 0.8)], strict=True
    ):
        lines = ax.collections[-1]
        for level, path in zip(lines.levels, lines.get_paths(), strict=True):
            x, y = path.vertices[np.isfinite(path.vertices).all(axis=1)].T
            assert gcd([x, y], [weight, 1 - weight], andness) == pytest.approx(level, abs=0.03)


def test_surfaces_take_codes_and_axes():
    _, given = plt.subplots(1, 3)
    drawn = plot.surfaces(["HC+", 0.6], given)
    assert drawn.tolist() == given.tolist()[:2]
    assert drawn[0].get_title().startswith("HC+, andness 0.93")
    with pytest.raises(ValueError, match="4 panels to draw, got 3 axes"):
        plot.surfaces([0, 1, 0.5, 0.2], given)


MIXED = Tree(
    Gate(
        [
            Leaf("colour", Table({"red": 1, "blue": 0.4}, other=0.2)), Leaf("size", Ramp([(1, 0), (2, 1), (4, 0)])),
            Leaf("truth"), Leaf("age", Sigmoid(40, -0.5)), Leaf("size", Ramp.between(0, 90)),
        ],
        "A", [0.1, 0.2, 0.15, 0.3, 0.25],
    )
)  # fmt: skip
ROWS = {
    "colour": ["red", "blue", "pink", None],
    "size": [1, 2, 3.5, np.nan],
    "truth": [0, 0.1, 1, 1],
    "age": [20, 30, 40, 70],
}


@pytest.mark.parametrize("rest", [{}, {"X": ROWS}, {"X": ROWS, "y": [True, False, True, False]}])
def test_criteria_draw_each_leaf_by_feature(rest):
    axes = plot.criteria(MIXED, **rest)
    assert [ax.get_title() for ax in axes] == ["size", "size", "age", "truth", "colour"]
    halves = [[line.get_xdata()[0] for line in ax.lines if line.get_gid() == "half"] for ax in axes]
    assert halves == [[1.5, 3.0], [] if rest else [45.0], [40.0], [0.5], []]
    curve = next(line for line in axes[2].lines if line.get_gid() == "criterion")
    assert curve.get_ydata() == pytest.approx(Sigmoid(40, -0.5).known(curve.get_xdata()))
    assert [text.get_text() for text in axes[4].get_xticklabels()] == ["red", "blue", "other"]
    bars = [patch.get_height() for patch in axes[4].patches[:3]]
    assert bars == [1.0, 0.4, 0.2]
    ticks = [text.get_text() for text in axes[4].get_yticklabels()]
    assert ticks == ["1", "0.5", "0", *(["yes", "no"] if "y" in rest else ["cases"] if rest else [])]
    axes[0].get_figure().canvas.draw()


def test_a_half_true_point_far_from_the_data_is_said():
    texts = [text.get_text() for text in plot.criteria(Tree(MIXED[(4,)]), ROWS)[0].texts]
    assert texts == ["half true at 45"]


def test_criteria_by_class_need_rows():
    with pytest.raises(ValueError, match="give X as well"):
        plot.criteria(MIXED, y=[True])


def entry(leaves, loss, accuracy=0.9):
    return SimpleNamespace(leaves=leaves, loss=loss, error=0.01, accuracy=accuracy)


def test_the_path_shows_loss_accuracy_and_the_chosen_size():
    entries = [entry(1, 0.4), entry(2, 0.2), entry(3, 0.1, 0.95), entry(4, float("nan"))]
    fitted = SimpleNamespace(path_=entries, history_=SimpleNamespace(leaves=3))
    ax = plot.path(fitted)
    assert ax.lines[0].get_ydata().tolist() == [0.4, 0.2, 0.1]
    assert labels_of(ax)[-1] == "chosen: 3 leaves"
    assert set(ax.lines[-1].get_xdata()) == {3}
    right = next(each for each in ax.get_figure().axes if each is not ax)
    assert right.lines[0].get_ydata().tolist() == [0.9, 0.9, 0.95]
    assert len(labels_of(plot.path(entries))) == 2
    with pytest.raises(ValueError, match="no size was scored"):
        plot.path(entries[3:])


def test_the_path_of_one_of_several_classes():
    histories = tuple(SimpleNamespace(label=label, leaves=2) for label in "abc")
    fitted = SimpleNamespace(path_=tuple([entry(2, loss)] for loss in (0.1, 0.2, 0.3)), history_=histories)
    assert plot.path(fitted, label="b").lines[0].get_ydata().tolist() == [0.2]
    with pytest.raises(ValueError, match="give label=, one of 'a', 'b', 'c'"):
        plot.path(fitted)


def correlated(n):
    rng = np.random.default_rng(1)
    groups = rng.standard_normal((200, 3))
    return {f"column_{i}": groups[:, i % 3] * (-1) ** (i == 4) + 0.3 * rng.standard_normal(200) for i in range(n)}


def test_correlations_put_similar_columns_side_by_side():
    X = correlated(9) | {"text": ["a"] * 200, "constant": [1.0] * 200}
    X["column_0"][:5] = np.nan
    ax = plot.correlation(X)
    names = [text.get_text() for text in ax.get_yticklabels()]
    alike = [{"column_0", "column_3", "column_6"}, {"column_2", "column_5", "column_8"}]
    assert all(any(set(names[i : i + 3]) == group for i in range(7)) for group in alike)
    shown = np.asarray(ax.images[0].get_array())
    i, j = names.index("column_1"), names.index("column_4")
    assert shown[i, j] == pytest.approx(np.corrcoef(X["column_1"], X["column_4"])[0, 1])
    i, j = names.index("column_0"), names.index("column_3")
    assert shown[i, j] == pytest.approx(np.corrcoef(X["column_0"][5:], X["column_3"][5:])[0, 1])
    assert len(ax.texts) == 81
    assert ax.get_xlabel() == "left out, not numbers or constant: 2"


def test_names_of_thirty_columns_do_not_overlap_and_negative_ones_are_marked():
    ax = plot.correlation(correlated(30))
    ax.get_figure().canvas.draw()
    for labels in ax.get_yticklabels(), ax.get_xticklabels():
        boxes = [text.get_window_extent() for text in labels]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
        assert all(text.get_fontsize() >= 8.0 for text in labels)
    assert len(ax.texts) == np.sum(np.asarray(ax.images[0].get_array()) < -0.05) > 0


def test_correlation_takes_arrays_and_chosen_columns():
    X = correlated(4)
    array = np.column_stack(list(X.values()))
    assert len(plot.correlation(array, columns=list("abcd")).get_xticks()) == 4
    assert len(plot.correlation(X, columns=["column_1", "column_2"]).get_xticks()) == 2
    with pytest.raises(ValueError, match="two or more numeric columns"):
        plot.correlation(X, columns=["column_1"])


def test_frequency_says_in_how_many():
    alternatives = SimpleNamespace(rows=(0,) * 10, frequency=(("a", 3), ("b", 7), ("c$", 10)))
    ax = plot.frequency(alternatives)
    assert [text.get_text() for text in ax.texts] == ["in 10 of 10", "in 7 of 10", "in 3 of 10"]
    assert [bar.get_width() for bar in ax.patches] == [10, 7, 3]


def scenario_table():
    numbers = {"accuracy": 0.9, "precision": 0.8, "recall": 0.95}
    ends = {
        f"{name}_{end}": value + step
        for name, value in numbers.items()
        for end, step in (("low", -0.05), ("high", 0.03))
    }
    rows = [SimpleNamespace(scenario=name, threshold=0.25, **numbers, **ends) for name in ("screening", "diagnosis")]
    return SimpleNamespace(rows=tuple(rows))


def test_scenarios_have_points_with_intervals():
    ax = plot.scenarios(scenario_table())
    assert labels_of(ax) == ["accuracy", "precision", "recall"]
    assert [line.get_xdata().tolist() for line in ax.lines[:3]] == [[0.9, 0.9], [0.8, 0.8], [0.95, 0.95]]
    assert len({line.get_marker() for line in ax.lines[:3]}) == 3
    ends = [segment[:, 0].tolist() for lines in ax.collections for segment in lines.get_segments()]
    assert ends[0] == pytest.approx([0.85, 0.93])
    assert len(ends) == 6
    assert ax.get_yticklabels()[0].get_text() == "screening\ntruth > 0.25"


def drawings(data):
    tree, X, y = data
    one = {
        "tree": lambda ax: plot.tree(tree, ax),
        "truths": lambda ax: plot.truths(tree, X, y, ax),
        "precision_recall": lambda ax: plot.precision_recall(tree, X, y, ax),
        "pruning_curve": lambda ax: plot.pruning_curve(pruning(), ax),
        "path": lambda ax: plot.path([entry(1, 0.4), entry(2, 0.2)], ax),
        "correlation": lambda ax: plot.correlation(X, ax),
        "frequency": lambda ax: plot.frequency(SimpleNamespace(rows=(0, 1), frequency=(("a", 1),)), ax),
        "scenarios": lambda ax: plot.scenarios(scenario_table(), ax),
    }
    several = {
        "surfaces": lambda axes: plot.surfaces(axes=axes),
        "criteria": lambda axes: plot.criteria(tree, X, axes),
    }
    return one, several


def test_drawings_keep_to_the_axes_they_are_given(data):
    one, several = drawings(data)
    assert sorted([*one, *several]) == plot.__all__
    mine, axes = plt.subplots(2, 3)
    settings_before = dict(mpl.rcParams)
    for draw in one.values():
        figure = mpl.figure.Figure()
        ax = figure.add_subplot()
        assert draw(ax) is ax
        figure.canvas.draw()
    for draw in several.values():
        assert all(isinstance(ax, Axes) and ax.get_figure() is mine for ax in draw(axes))
    assert plt.get_fignums() == [mine.number]
    assert dict(mpl.rcParams) == settings_before


def test_drawings_make_one_figure_when_they_are_given_none(data):
    one, several = drawings(data)
    for draw in (one | several).values():
        before = plt.get_fignums()
        ax = np.ravel(draw(None))[0]
        assert isinstance(ax, Axes)
        (made,) = set(plt.get_fignums()) - set(before)
        assert ax.get_figure().number == made
        ax.get_figure().canvas.draw()


def test_nothing_to_draw_is_an_error():
    for draw in plot.pruning_curve, plot.scenarios:
        with pytest.raises(ValueError, match="nothing to draw"):
            draw(SimpleNamespace(rows=()))
    for draw in plot.truths, plot.precision_recall:
        with pytest.raises(ValueError, match=r"nothing to draw|no rows"):
            draw(Tree("a"), {"a": []}, [])
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.frequency(SimpleNamespace(rows=(), frequency=()))


def test_without_matplotlib_the_error_says_what_to_install():
    script = """
import sys
sys.modules["matplotlib"] = None
from baconlogic import Tree, plot
try:
    plot.tree(Tree("a"))
except ModuleNotFoundError as problem:
    assert str(problem) == "drawing needs matplotlib: pip install 'baconlogic[plot]'", problem
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_plot_does_not_import_matplotlib():
    script = "import sys; from baconlogic import plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_conditions_are_drawn_as_they_are_used_and_even_weights_not_at_all():
    tree = Tree.parse('A(a[above 1], not b[above 1, up to 3], kind[1 if "x", 1 if "y", other 0, missing 1])')
    ax = plot.tree(tree)
    said = {text.get_text() for text in ax.texts}
    assert {"above 1", "at most 1 or above 3", "is x or y or unknown", "if at least 2 of 3"} <= said
    assert "not b" not in said
    assert not any("%" in text for text in said)
    check_legible(ax)
