"""The models that the suite compares: how each is made, how much there is to read, and how often it can be afforded.

A model's features are the columns it looks at; its rules are what a person would have to read: leaves of trees, rules
or terms with a weight, coefficients, curves. Settings are the defaults of each library unless `about` says
otherwise. Models that take no text get a column for each word, those that take no missing values medians of the rows
learned from and a column that says where they stand.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import peers
from networks import BaconNet, Kan

NUMBERS, MISSING, TABLES = "numbers", "missing", "tables"  # what a model takes: each also takes what stands before it
ALL, FEW, ONE = 4, 2, 1  # how many shufflings of the folds a model gets: less where it takes minutes


@dataclass(frozen=True)
class Contender:
    """A model of the suite."""

    name: str
    package: str
    about: str
    make: Callable[[], Any]
    size: Callable[[Any, int], tuple[int, int]]  # of a fitted model and the number of columns: features and rules
    small: bool = False  # ten rules or features at most, by its settings
    seeds: int = ALL
    takes: str = NUMBERS

    def version(self) -> str | None:
        """Return the version of the package here; None where it is not installed."""
        if self.package == "fasterrisk":  # it has an environment of its own
            return peers.risk_version()
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


def _leaves(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    from baconlogic import Leaf

    leaves = [node.feature for _, node in model.tree_.walk() if isinstance(node, Leaf)]
    return len(set(leaves)), len(leaves)


def _coefficients(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    used = int(np.count_nonzero(model[-1].coef_))
    return used, used


def _tree_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    return len(set(model.tree_.feature[model.tree_.feature >= 0])), int(model.get_n_leaves())


def _forest_size(model: Any, columns: int) -> tuple[int, int]:
    features = {f for tree in model.estimators_ for f in tree.tree_.feature if f >= 0}
    return len(features), sum(_tree_size(tree, columns)[1] for tree in model.estimators_)


def _boosting_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    nodes = np.concatenate([tree.nodes for stage in model._predictors for tree in stage])
    leaf = nodes["is_leaf"].astype(bool)
    return len(set(nodes["feature_idx"][~leaf])), int(leaf.sum())


def _ebm_size(model: Any, columns: int) -> tuple[int, int]:
    return columns, len(model.term_names_)


def _figs_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    features, waiting = set(), list(model.trees_)
    while waiting:
        node = waiting.pop()
        if node.left is not None:
            features.add(node.feature)
            waiting += [node.left, node.right]
    return len(features), int(model.complexity_)


def _rulefit_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    table = model._get_rules(exclude_zero_coef=True)
    used = {column for rule in table["rule"] for column in re.findall(r"X_?(\d+)", str(rule))}
    return len(used), len(table)


def _risk_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    return len({column for column, _, _ in model.conditions_}), len(model.conditions_)


def _kan_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    return columns, 2 * columns + 2


def _bacon_net_size(model: Any, columns: int) -> tuple[int, int]:  # noqa: ARG001
    return columns, columns


OURS = "baconlogic"
CONTENDERS = {
    c.name: c
    for c in (
        Contender(
            OURS,
            "baconlogic",
            "BaconClassifier(max_leaves=10)",
            lambda: peers.ours(max_leaves=10),
            _leaves,
            small=True,
            takes=TABLES,
        ),
        Contender(
            "logistic, 10 features",
            "scikit-learn",
            "standardised, ten features by recursive elimination",
            lambda: peers.logistic(10),
            _coefficients,
            small=True,
        ),
        Contender(
            "tree, 10 leaves",
            "scikit-learn",
            "DecisionTreeClassifier(max_leaf_nodes=10)",
            lambda: peers.tree(None, 10),
            _tree_size,
            small=True,
            takes=MISSING,
        ),
        Contender(
            "FIGS, 10 rules",
            "imodels",
            "FIGSClassifier(max_rules=10)",
            lambda: peers.figs(max_rules=10),
            _figs_size,
            small=True,
        ),
        Contender(
            "RuleFit, 10 rules",
            "imodels",
            "RuleFitClassifier(max_rules=10)",
            lambda: peers.rulefit(max_rules=10),
            _rulefit_size,
            small=True,
            seeds=FEW,
        ),
        Contender(
            "FasterRisk, 10 points",
            "fasterrisk",
            "ten conditions with points from -5 to 5, of at most 100 thresholds a column as its documentation has it",
            lambda: peers.FasterRisk(10),
            _risk_size,
            small=True,
            seeds=ONE,
        ),
        Contender("logistic", "scikit-learn", "standardised, all features", peers.logistic, _coefficients),
        Contender(
            "tree, depth 4",
            "scikit-learn",
            "DecisionTreeClassifier(max_depth=4)",
            peers.tree,
            _tree_size,
            takes=MISSING,
        ),
        Contender("FIGS", "imodels", "FIGSClassifier(), 12 rules", peers.figs, _figs_size),
        Contender("RuleFit", "imodels", "RuleFitClassifier(), 30 rules", peers.rulefit, _rulefit_size, seeds=FEW),
        Contender(
            "random forest",
            "scikit-learn",
            "RandomForestClassifier(), 100 trees",
            peers.forest,
            _forest_size,
            takes=MISSING,
        ),
        Contender(
            "boosting",
            "scikit-learn",
            "HistGradientBoostingClassifier()",
            peers.boosting,
            _boosting_size,
            takes=MISSING,
        ),
        Contender(
            "EBM",
            "interpret-core",
            "ExplainableBoostingClassifier(max_rounds=500): with the default of 50,000 rounds a fit of Wine takes"
            " more than five minutes",
            lambda: peers.ebm(max_rounds=500),
            _ebm_size,
            seeds=FEW,
        ),
        Contender(
            "KAN",
            "pykan",
            "two hidden nodes, cubic splines on three intervals, 20 steps of L-BFGS",
            Kan,
            _kan_size,
            seeds=ONE,
        ),
        Contender(
            "bacon-net",
            "bacon-net",
            "best of three attempts of 600 epochs by a fifth of the training rows, transformation layer on",
            BaconNet,
            _bacon_net_size,
            seeds=ONE,
        ),
    )
}
