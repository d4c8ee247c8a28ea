"""The breast cancer experiment: its tables say what the trees say, and rows held out stay out."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baconlogic import datasets, edit, explain, load
from experiments import breast_cancer, breast_fits
from experiments.validation import frame, splits

STRONG = ["radius3", "texture3", "concave_points3", "area2", "smoothness3", "concavity1", "texture1", "perimeter1"]


@pytest.fixture(scope="module")
def few():
    """A third of the rows and eight of the features: what an experiment says, in seconds."""
    data = datasets.breast_cancer()
    columns = [data.feature_names.index(name) for name in STRONG]
    return replace(data, X=data.X[::3, columns], y=data.y[::3], feature_names=tuple(STRONG))


@pytest.fixture(scope="module")
def rows(few):
    return frame(few), np.array(few.target_names)[few.y]


@pytest.fixture(scope="module")
def chain(rows):
    return breast_fits.chain(*rows, 0, breast_cancer.STRICT)


@pytest.fixture(scope="module")
def result(few, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "breast_cancer", lambda: few)
        folder = tmp_path_factory.mktemp("experiment")
        return breast_cancer.run(n_jobs=1, folder=folder, runs=2, folds=2)


def accuracy(decision, tree, X, y):
    return np.mean(decision.with_tree(tree).predict(X) == y)


def test_a_layer_tells_the_accuracy_of_the_chain_above_it(chain, rows):
    tree = chain.decision.tree
    layers = breast_fits.layers(tree, chain.curve)
    assert [layer.layer for layer in layers] == list(range(1, len(STRONG)))
    for layer in layers:
        pruned = edit.prune(tree, keep=len(STRONG) - layer.layer)
        assert layer.accuracy == pytest.approx(accuracy(chain.decision, pruned, *rows))
        assert layer.feature in pruned.features
    assert (layers[-1].weight, layers[-1].andness) == (tree.root.weights[1], tree.root.andness)
    assert layers[-1].feature == tree.root.inputs[1].feature


def test_a_brief_chain_folds_only_the_layers_that_cost_little():
    layers = [
        breast_fits.Layer(i, f"f{i}", 0.5, 1.0, right) for i, right in enumerate((0.98, 0.982, 0.976, 0.974, 0.981), 1)
    ]
    whole, brief = (breast_cancer._chain_table(layers, brief=brief).splitlines() for brief in (False, True))
    assert len(whole) == 6
    assert [line.split()[0] for line in brief] == ["layer", "1-3", "4", "5"]
    assert "97.60% to 98.20%" in brief[1]
    layers = [replace(layer, accuracy=right) for layer, right in zip(layers, (1.0, 0.996, 0.9, 0.9, 0.9), strict=True)]
    assert "99.60% to 100.00%" in breast_cancer._chain_table(layers, brief=True)


def test_simplifying_keeps_every_truth_and_grouping_keeps_every_feature(chain, rows):
    X, y = rows
    whole, pruned, simple, grouped, refitted = breast_fits.steps(chain.decision, X, y)
    assert pruned.in_sample >= whole.in_sample
    np.testing.assert_allclose(simple.tree.evaluate(X), pruned.tree.evaluate(X), atol=1e-12)
    assert set(grouped.tree.features) == set(refitted.tree.features) == set(pruned.tree.features)
    named = {node.name for _, node in refitted.tree.walk() if node.name}
    assert named == set(breast_fits.groups_of(pruned.tree.features))


def test_every_measurement_has_one_meaning():
    groups = breast_fits.groups_of(datasets.breast_cancer().feature_names)
    assert sorted(name for names in groups.values() for name in names) == sorted(datasets.breast_cancer().feature_names)


def test_steps_of_a_fold_are_judged_on_the_rows_held_out(rows):
    X, y = rows
    seen, hidden = splits(y, 2, 1, 0)[0]
    turned = np.where(y == "benign", "malignant", "benign")
    labels = y.copy()
    labels[hidden] = turned[hidden]  # only the judgement may see it
    fair = breast_fits.steps_fold(X, y, (seen, hidden), 0, breast_cancer.STRICT)
    lied = breast_fits.steps_fold(X, labels, (seen, hidden), 0, breast_cancer.STRICT)
    for a, b in zip(fair, lied, strict=True):
        assert a.tree == b.tree
        assert a.held_out == pytest.approx(1.0 - b.held_out)


def test_labels_held_out_have_no_say_in_the_default_tree_or_its_thresholds(result, rows):
    X, y = rows
    seen, hidden = splits(y, 2, 2, 0)[0]
    labels = y.copy()
    labels[hidden] = np.where(y[hidden] == "benign", "malignant", "benign")
    lied = breast_fits.default_fold(X, labels, (seen, hidden), 0)
    assert lied.few_model.decision_.tree == result.decision.tree
    assert lied.few_leaves <= breast_fits.FEW
    assert lied.few < 0.5 < lied.few_in_sample  # all is wrong where labels are turned
    assert [sum(counts) for counts in lied.scenarios] == [len(hidden)] * 3
    assert lied.scenarios[0].false_negative <= lied.scenarios[2].false_negative  # screening says yes at least as often
    assert f"of {len(hidden)} others" in str(result)


def test_the_forest_tree_is_the_best_on_the_rows_it_learned_from(rows):
    X, y = rows
    part = splits(y, 2, 1, 0)[0]
    rival = breast_fits.forest_tree(X, y, part, 0)
    assert rival.held_out < rival.in_sample <= 1.0
    assert rival.leaves > 2


def test_frequency_counts_runs_and_agreement_counts_rows():
    decided = [np.array([True, True, False, False]), np.array([True, False, False, False])]
    runs = [
        breast_fits.Run(None, right, top, said, 1.0)
        for right, top, said in zip((0.75, 1.0), (("a", "b"), ("b", "c")), decided, strict=True)
    ]
    told = breast_fits.explanations(runs)
    assert told.frequency[0] == ("b", 2)
    assert (told.mean, told.best, told.least_alike) == (0.875, 1.0, 0.75)
    assert breast_cancer.best_run(runs) is runs[1]


def test_scenarios_in_sample_keep_what_they_are_for(result):
    screening, diagnosis, planning = result.turns
    assert screening.in_sample.recall == planning.in_sample.precision == 1.0
    assert diagnosis.in_sample.accuracy >= max(screening.in_sample.accuracy, planning.in_sample.accuracy)


def test_pairs_are_sorted_by_how_close_they_are(few):
    pairs = breast_fits.correlated(few.X, few.feature_names)
    assert {pairs[0].first, pairs[0].second} == {"radius3", "perimeter1"}
    assert len(pairs) == 28


def test_the_output_ends_with_tree_metrics_and_report(result):
    said = str(result)
    places = [said.index(part) for part in ("The tree to take away", "Beside the paper", "The report, to be opened")]
    assert places == sorted(places)
    assert said.endswith(result.files[0])
    assert max(map(len, said.splitlines()[:-1])) <= 120
    assert "With a folder" in str(replace(result, files=()))


def test_every_file_is_written_and_the_model_is_the_tree_shown(result, rows):
    paths = [Path(path) for path in (*result.files, *result.pictures)]
    assert len(paths) == 13
    assert all(path.stat().st_size > 300 for path in paths)
    assert all(path.name.startswith("breast-cancer-") for path in paths)
    model = load(result.files[2])
    np.testing.assert_array_equal(model.predict(rows[0]), result.decision.predict(rows[0]))
    assert str(model.tree) in str(result)
    assert json.loads(json.dumps(result.to_dict()))["lines"][0]["paper"] == 0.9807


def test_words_of_the_grouped_tree_turn_where_it_does(result):
    last = result.steps[-1]
    told = explain.describe(last.tree, threshold=last.threshold, label="malignant").summary
    assert re.sub(r"\s+", " ", told) in re.sub(r"\s+", " ", str(result))


@pytest.mark.slow
def test_section_4_of_the_paper_is_met():
    found = breast_cancer.run()
    assert found.learned_runs.mean >= 0.9807
    assert found.learned_runs.best >= 0.9895
    assert found.paper_runs.mean >= 0.9772  # the paper's own normaliser: within two rows of its 98.07%
    assert len(found.enough[str(breast_cancer.STRICT)]) <= 10
    held = {each.name: each.held_out for each in found.compared}
    assert held["tumours, default"].mean > held["best tree of forest"].mean
    assert len(str(found).splitlines()) <= 140
