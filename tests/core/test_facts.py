"""What the library is held to on known logic: Boolean expressions, houses, Iris; in short form (see benchmarks)."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from baconlogic import BaconClassifier, datasets
from baconlogic.core.nodes import Leaf
from baconlogic.learn.search import Sinkhorn

REALTOR = Path(__file__).parents[3] / "shared" / "data" / "realtor-13k.csv"


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8, 10, 12])
def test_random_chains_are_recovered_exactly(n):
    for seed in range(10):
        data = datasets.boolean(
            datasets.random_chain(n, seed, negate=seed % 2 == 1), shuffle_columns=True, random_state=1
        )
        assert (BaconClassifier(random_state=0).fit(*data).predict(data.X) == data.y).all()


def test_the_papers_expression_is_recovered_as_text():
    data = datasets.boolean(datasets.appendix_b(), repeats=100)
    clf = BaconClassifier(random_state=0).fit(data.frame().drop(columns="target"), data.y)
    assert (clf.predict(data.frame().drop(columns="target")) == data.y).all()
    assert set(clf.tree_.features) == set("ABCDEFGH")
    assert clf.history_.stopped.startswith("exact")


def test_five_percent_of_wrong_labels_do_not_hide_a_chain():
    for seed in range(5):
        chain = datasets.random_chain(8, seed)
        noisy, clean = datasets.boolean(chain, repeats=100, noise=0.05, random_state=seed), datasets.boolean(chain)
        clf = BaconClassifier(random_state=0).fit(*noisy)
        assert (clf.predict(clean.X) == clean.y).all()
        assert 0.9 < clf.predict_proba(clean.X).max() < 0.98  # it knows about the noise


def test_a_hundred_variables_from_ten_thousand_rows():
    chain = datasets.random_chain(100, 0)
    seen, unseen = (datasets.boolean(chain, rows=10_000, random_state=seed) for seed in (0, 1))
    assert BaconClassifier(random_state=0).fit(*seen).score(*unseen) >= 0.995


def test_sinkhorn_recovers_the_papers_expression():
    data = datasets.boolean(datasets.appendix_b(), shuffle_columns=True, random_state=0)
    clf = BaconClassifier(search=Sinkhorn(acceptance_threshold=1.0), random_state=0).fit(*data)
    assert (clf.predict(data.X) == data.y).all()


@pytest.mark.skipif(not REALTOR.exists(), reason="the data is not here")
@pytest.mark.parametrize("case", ["A", "B"])
def test_hidden_house_rules_come_out_in_raw_units(case):
    data = datasets.read_houses(REALTOR, case)
    clf = BaconClassifier(random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(clf, data.X, data.y, cv=folds).mean() >= 0.999
    clf.fit(data.frame().drop(columns="target"), data.y)
    rule = dict(datasets.house_rule(case).thresholds)
    assert set(clf.tree_.features) == set(rule)
    passes = {name: data.X[:, data.feature_names.index(name)] > at for name, at in rule.items()}
    for _, leaf in clf.tree_.walk():
        if isinstance(leaf, Leaf):
            others = [ok == (case == "A") for name, ok in passes.items() if name != leaf.feature]
            column = data.X[np.logical_and.reduce(others), data.feature_names.index(leaf.feature)]
            at = rule[leaf.feature]  # of the rows where this criterion decides alone
            assert column[column <= at].max() <= leaf.criterion.inverse(0.5) < column[column > at].min()


@pytest.mark.slow
def test_iris_needs_no_flipping():
    flowers = datasets.iris()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    clf = BaconClassifier(random_state=0)
    assert cross_val_score(clf, flowers.X, flowers.y == "setosa", cv=folds).mean() == 1.0
    assert cross_val_score(clf, *flowers, cv=folds).mean() >= 0.95
    fitted = clf.fit(flowers.X, flowers.y == "setosa")
    leaf = next(node for _, node in fitted.tree_.walk() if isinstance(node, Leaf))
    assert not leaf.criterion.rising


def test_breast_cancer_in_sample_as_the_paper_measures_it():
    data = datasets.breast_cancer()
    scores = [BaconClassifier(search=Sinkhorn(), random_state=seed).fit(*data).score(*data) for seed in range(3)]
    assert np.mean(scores) >= 0.975
