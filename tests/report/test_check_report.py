import dataclasses
import json
import re
from collections import Counter
from decimal import Decimal
from itertools import product

import jsonschema
import numpy as np
import pytest
from hostile_names import NAMES
from hypothesis import given, settings
from random_cases import random_case
from strategies import trees

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Interval, Sigmoid, Table
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.core.levels import LEVELS, nearest_level
from baconlogic.report import check_report, report_schema
from baconlogic.report._facts import METRICS

SCHEMA = jsonschema.Draft202012Validator(report_schema())
ROLES = ["mandatory", "desired", "neutral", "optional", "sufficient"]
TURNED = dict(zip(ROLES, reversed(ROLES), strict=True))
GROUPS = ["alpha", "beta", "gamma", "delta", "epsilon"]
PAPER = Tree.parse(
    "HHC(concave_points3: 0.5, HHD(radius2: 0.04, area1: 0.11, concavity1: 0.34, perimeter3: 0.51): 0.5)"
)
CELL = Tree.parse(
    'HC(dents[half at 0.14, slope 50]: 0.6, "big cell" = HD(area[half at 880, slope 0.01]: 0.75, '
    'radius[0 at 12, 1 at 25, unit "mm"]: 0.25): 0.3, colour[1 if "red", 0.3 if "blue", other 0]: 0.1)'
)


def report(*sentences, title="Overview"):
    return {"sections": [{"title": title, "sentences": [{"text": t, "claims": list(c)} for t, *c in sentences]}]}


def one(claim, tree=CELL, text="So it is.", **rest):
    """Return what is found of one claim: wrong, unknown or nothing."""
    found = check_report(report((text, claim)), tree, **rest)
    return ", ".join(f"{row.problem} {row.kind}" for row in found.rows)


def text_of(text, *claims, tree=CELL, **rest):
    """Return the names and numbers of a text that no claim covers."""
    return [(row.kind, row.said) for row in check_report(report((text, *claims)), tree, **rest).rows]


# ---- true claims about random trees, by another way than the check goes


def decimals(value):
    return max(-Decimal(repr(value)).as_tuple().exponent, 0)


def near(said, true, share=True):
    reach = 0.5 * 10.0 ** -decimals(said)
    return abs(said - true) <= (min(reach, 0.05) if share else reach) + 1e-9 * abs(true)


class World:
    """A random tree with rows, and what is true of it, worked out from its nodes."""

    def __init__(self, rng):
        self.rng = rng
        tree, _, self.kinds = random_case(rng, most=6, again=0.1)
        named = iter(rng.permutation(GROUPS))
        for path, node in list(tree.walk()):
            if isinstance(node, Gate) and rng.random() < 0.5:
                tree = tree.replace(path, renamed(node, str(next(named))) if path else node)
        self.tree, self.nodes = tree, dict(tree.walk())
        self.threshold = float(rng.choice([0.5, 0.3, 0.613]))
        self.gates = [path for path, node in self.nodes.items() if isinstance(node, Gate)]
        self.leaves = {path: node for path, node in self.nodes.items() if isinstance(node, Leaf)}
        self.features = list(dict.fromkeys(leaf.feature for leaf in self.leaves.values()))
        rows = int(rng.integers(8, 30))
        self.X = {
            f: rng.choice(list("xyz"), rows) if kind == "table" else rng.random(rows) for f, kind in self.kinds.items()
        }
        self.y = ["sick" if sick else "not sick" for sick in [True, True, False, False, *(rng.random(rows - 4) < 0.5)]]

    def options(self):
        return {"X": self.X, "y": self.y, "threshold": self.threshold, "label": "sick"}

    def reference(self, path):
        """Return a gate as a claim may call it."""
        name = self.nodes[path].name
        return name if name and self.rng.random() < 0.7 else list(path)

    def path(self, reference):
        if not isinstance(reference, str):
            return tuple(reference)
        return next(path for path in self.gates if self.nodes[path].name == reference)

    def places(self, part):
        if part in self.features:
            return [path for path, leaf in self.leaves.items() if leaf.feature == part]
        return [self.path(part)]

    def negated(self, path):
        return sum(isinstance(self.nodes[path[:i]], Not) for i in range(len(path))) % 2 == 1

    def weight(self, part, gate=()):
        total = 0.0
        for path in self.places(part):
            if path[: len(gate)] == gate:
                steps = [(self.nodes[path[:i]], path[i]) for i in range(len(gate), len(path))]
                total += np.prod([node.weights[i] for node, i in steps if isinstance(node, Gate)])
        return float(total)

    def told(self, path):
        gate = self.nodes[path]
        return nearest_level(1.0 - gate.andness, len(gate.inputs)) if self.negated(path) else gate.level

    def place_role(self, path, role, gate):
        above = [path[:i] for i in range(len(gate), len(path)) if path[:i] in self.gates]
        return path[: len(gate)] == gate and bool(above) and all(self.told(each).role == role for each in above)

    def decisive(self, feature):
        """Return whether a feature is necessary, and whether it is sufficient, by trying every corner."""
        tree, ends = self.tree, {}
        for path, leaf in self.leaves.items():
            table = isinstance(leaf.criterion, Table)
            truths = [t for _, t in leaf.criterion.truths] if table else [0.0, 1.0]
            tree, ends[leaf.feature] = tree.replace(path, Leaf(leaf.feature)), (min(truths), max(truths))
        corners = np.array(list(product(*ends.values())))
        truths, own = tree.evaluate(corners, columns=list(ends)), corners[:, list(ends).index(feature)]
        parts = [truths[own == value] for value in ends[feature]]
        return min(p.max() for p in parts) <= self.threshold, max(p.min() for p in parts) > self.threshold

    def metric(self, name):
        yes, sick = self.tree.evaluate(self.X) > self.threshold, np.array(self.y) == "sick"
        if name == "auc":
            truths = self.tree.evaluate(self.X)
            pairs = truths[sick][:, None] - truths[~sick][None, :]
            return float(np.mean((pairs > 0) + 0.5 * (pairs == 0)))
        right, among = {
            "accuracy": (yes == sick, np.ones(len(sick), bool)), "recall": (yes, sick), "precision": (sick, yes),
            "specificity": (~yes, ~sick),
        }[name]  # fmt: skip
        return float(right[among].mean()) if among.any() else None

    def is_true(self, claim):
        gate = self.path(claim["in"]) if "in" in claim else ()
        return getattr(self, f"{claim['kind']}_is_true")(claim, gate)

    def weight_is_true(self, claim, gate):
        return near(claim["value"], self.weight(claim["of"], gate))

    def rank_is_true(self, claim, gate):
        own = self.weight(claim["of"], gate)
        if "order" in claim:
            other = self.weight(claim["than"], gate)
            same = abs(own - other) < 1e-12
            return claim["order"] == ("equal" if same else "more" if own > other else "less")
        others = sorted((self.weight(f, gate) for f in self.features if self.weight(f, gate)), reverse=True)
        rank = claim["rank"] - (claim["rank"] > 0)
        return own > 0 and -len(others) <= rank < len(others) and claim["rank"] != 0 and abs(others[rank] - own) < 1e-12

    def role_is_true(self, claim, gate):
        role = TURNED[claim["role"]] if claim.get("for") == "not sick" else claim["role"]
        top = self.gates[0]
        found = any(self.place_role(path, role, gate if "in" in claim else top) for path in self.places(claim["of"]))
        if "in" not in claim and role in ("mandatory", "sufficient"):
            found = found or self.decisive(claim["of"])[role == "sufficient"]
        return found == claim.get("holds", True)

    def level_is_true(self, claim, _):
        path = self.path(claim["gate"])
        andness = self.nodes[path].andness
        right = claim["code"] in (self.nodes[path].level.code, self.told(path).code)
        return right and near(claim.get("andness", andness), andness)

    def direction_is_true(self, claim, _):
        rising = {path: self.leaves[path].criterion.rising for path in self.places(claim["feature"])}
        ways = {up if up is None else up != self.negated(path) for path, up in rising.items()}
        way = ways.pop() if len(ways) == 1 else None
        way = not way if way is not None and claim.get("for") == "not sick" else way
        return claim["value"] == {True: "rising", False: "falling", None: "neither"}[way]

    def threshold_is_true(self, claim, _):
        if "feature" not in claim:
            return near(claim["value"], self.threshold)
        return any(self.turns(self.leaves[path].criterion, claim) for path in self.places(claim["feature"]))

    @staticmethod
    def turns(criterion, claim):
        truth = claim["truth"]
        if isinstance(criterion, Table) or "category" in claim:
            truths = dict(criterion.truths) if isinstance(criterion, Table) else {}
            return claim.get("category") in truths and near(truth, truths[claim["category"]])
        if isinstance(criterion, Given) or claim.get("unit"):
            return not claim.get("unit") and near(claim["value"], truth, share=False)
        if isinstance(criterion, Interval):
            marks = [mark for mark in (criterion.low, criterion.high) if mark is not None]
            return any(near(claim["value"], mark, share=False) for mark in marks)
        if isinstance(criterion, Sigmoid):
            if truth in (0.0, 1.0):
                return False
            at = criterion.centre + np.log(truth / (1.0 - truth)) / criterion.slope
        else:
            (a, t), (b, u) = criterion.points
            at = a + (truth - t) / (u - t) * (b - a)
        return near(claim["value"], at, share=False)

    def count_is_true(self, claim, gate):
        inside = [path for path in self.nodes if path[: len(gate)] == gate]
        leaves = [self.leaves[path].feature for path in inside if path in self.leaves]
        return claim["value"] == {
            "features": len(set(leaves)), "leaves": len(leaves), "gates": sum(path in self.gates for path in inside),
            "inputs": len(self.nodes[gate if "in" in claim else self.gates[0]].children), "rows": len(self.y),
        }[claim["what"]]  # fmt: skip

    def metric_is_true(self, claim, _):
        true = self.metric(claim["name"])
        return true is not None and near(claim["value"], true)

    # true claims

    def rounded(self, value):
        return round(float(value), int(self.rng.integers(1, 4)))

    def within(self):
        return {"in": self.reference(self.pick(self.gates))} if self.rng.random() < 0.5 else {}

    def pick(self, those):
        return those[int(self.rng.integers(len(those)))]

    def draw(self, kind):
        """Return a random claim of a kind; some need not be true."""
        feature, within = self.pick(self.features), self.within()
        gate = self.path(within["in"]) if within else ()
        if kind == "weight":
            part = feature if self.rng.random() < 0.6 else self.reference(self.pick(self.gates))
            return {"kind": kind, "of": part, **within, "value": self.rounded(self.weight(part, gate))}
        if kind == "rank" and self.rng.random() < 0.5:
            return {"kind": kind, "of": feature, **within, "rank": int(self.rng.integers(-6, 7))}
        if kind == "rank":
            order = self.pick(["more", "less", "equal"])
            return {"kind": kind, "of": feature, **within, "order": order, "than": self.pick(self.features)}
        if kind == "role":
            claim = {"kind": kind, "of": feature, **within, "role": self.pick(ROLES)}
            claim |= {"for": self.pick(["sick", "not sick"])} if self.rng.random() < 0.3 else {}
            return claim | ({"holds": bool(self.rng.random() < 0.5)} if self.rng.random() < 0.5 else {})
        if kind == "level":
            path = self.pick(self.gates)
            level = self.nodes[path].level if self.rng.random() < 0.7 else self.told(path)
            claim = {"kind": kind, "gate": self.reference(path), "code": level.code}
            return claim | ({"andness": self.rounded(self.nodes[path].andness)} if self.rng.random() < 0.5 else {})
        if kind == "direction":
            claim = {"kind": kind, "feature": feature, "value": self.pick(["rising", "falling", "neither"])}
            return claim | ({"for": self.pick(["sick", "not sick"])} if self.rng.random() < 0.3 else {})
        if kind == "threshold":
            return self.draw_threshold(feature)
        if kind == "count":
            what = self.pick(["features", "leaves", "gates", "inputs", "rows"])
            return {
                "kind": kind,
                "what": what,
                **within,
                "value": int(self.rng.integers(1, 9)) if what != "rows" else len(self.y),
            }
        name = self.pick(["accuracy", "recall", "precision", "specificity", "auc"])
        return {"kind": kind, "name": name, "value": self.rounded(self.metric(name) or 0.0)}

    def draw_threshold(self, feature):
        criterion = self.leaves[self.places(feature)[0]].criterion
        if self.rng.random() < 0.3:
            return {"kind": "threshold", "value": self.rounded(self.threshold)}
        if isinstance(criterion, Table):
            category, truth = self.pick(criterion.truths)
            return {"kind": "threshold", "feature": feature, "category": category, "truth": self.rounded(truth)}
        truth = self.pick([0.5, 0.25, 0.0, 1.0] if not isinstance(criterion, Sigmoid) else [0.5, 0.95, 0.1])
        return {
            "kind": "threshold",
            "feature": feature,
            "value": self.rounded(self.pick(criterion.crossings(truth))),
            "truth": truth,
        }

    def claim(self, kind):
        """Return a random claim that is true."""
        once = len(self.leaves) == len(self.features)  # corners are tried for features used once only
        while True:
            claim = self.draw(kind)
            if (once or kind != "role" or "in" in claim) and self.is_true(claim):
                return claim
            if kind == "metric" and claim["value"] == 0.0 and self.metric(claim["name"]) is None:
                kind = "count"

    def report(self, kinds):
        claims = [self.claim(kind) for kind in kinds]
        return report(*((sentence(claim), claim) for claim in claims))

    def mutated(self, claim):
        """Return the claim with one field changed so that it is false, and that field."""
        once = len(self.leaves) == len(self.features)
        for _ in range(1000):
            field = self.pick([name for name in claim if name != "kind"])
            other = {**claim, field: self.changed(claim, field)}
            if other != claim and (once or claim["kind"] != "role" or "in" in claim) and not self.is_true(other):
                return other, field
        return None

    def changed(self, claim, field):
        value = claim[field]
        if field in ("of", "than", "feature"):
            return self.pick(self.features)
        if field in ("in", "gate"):
            return self.reference(self.pick(self.gates))
        if isinstance(value, bool):
            return not value
        if field == "category":
            return self.pick(["x", "y", "z", "w"])
        if isinstance(value, float):
            step = 10.0 ** -decimals(value) if decimals(value) else 1.0
            moved = round(value + float(self.rng.choice([-3, -2, -1, 1, 2, 3])) * step, decimals(value))
            return min(max(moved, 0.0), 1.0) if field == "truth" else moved
        if isinstance(value, int):
            return max(value + int(self.rng.choice([-2, -1, 1, 2])), 0 if field == "value" else -100)
        return self.pick({
            "role": ROLES, "for": ["sick", "not sick"], "code": list(LEVELS), "order": ["more", "less", "equal"],
            "value": ["rising", "falling", "neither"], "what": ["features", "leaves", "gates", "inputs", "rows"],
            "name": ["accuracy", "recall", "precision", "specificity", "auc"],
        }[field])  # fmt: skip


def renamed(gate, name):
    return Gate(gate.inputs, gate.andness, gate.weights, gate.aggregator, name)


def sentence(claim):
    """Return words that have every name and number of a claim."""
    said = []
    for field, value in claim.items():
        if isinstance(value, str) and field in ("of", "than", "in", "gate", "feature", "code", "for"):
            said.append(f"{field} `{value}`")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            said.append(f"is {value}" if field != "rank" or value > 0 else "is late")
    return f"Here we say {', '.join(said)}."


KINDS = ["weight", "rank", "role", "level", "direction", "threshold", "count", "metric"]


def test_of_500_true_reports_nothing_is_found():
    rng = np.random.default_rng(1)
    for i in range(500):
        world = World(rng)
        written = world.report(rng.permutation(KINDS)[:5])
        if i % 10 == 0:
            SCHEMA.validate(written)
        found = check_report(json.dumps(written), world.tree, **world.options())
        assert found.passed, f"{found}\n{world.tree}"
        assert found.checked == 5


def test_each_of_500_mutations_of_a_claim_is_found():
    rng = np.random.default_rng(2)
    seen, caught = Counter(), 0
    while caught < 500:
        world = World(rng)
        written = world.report([KINDS[caught % 8], *rng.permutation(KINDS)[:2]])
        mutated = world.mutated(written["sections"][0]["sentences"][0]["claims"][0])
        if mutated is None:
            continue
        claim, field = mutated
        written["sections"][0]["sentences"][0]["claims"] = [claim]
        if caught % 10 == 0:
            SCHEMA.validate(written)
        found = check_report(written, world.tree, **world.options())
        rows = [row for row in found.rows if row.problem != "uncovered"]
        assert [(row.kind, row.where) for row in rows] == [(claim["kind"], (1, 1))], f"{claim} {field}\n{world.tree}"
        seen[claim["kind"], field] += 1
        caught += 1
    assert {kind for kind, _ in seen} == set(KINDS)
    assert set(seen) >= {
        ("weight", "of"), ("weight", "in"), ("weight", "value"), ("rank", "of"), ("rank", "rank"), ("rank", "order"),
        ("rank", "than"), ("role", "of"), ("role", "role"), ("role", "holds"), ("role", "for"), ("level", "gate"),
        ("level", "code"), ("level", "andness"), ("direction", "feature"), ("direction", "value"),
        ("threshold", "value"), ("threshold", "truth"), ("threshold", "feature"), ("count", "what"),
        ("count", "value"), ("metric", "name"), ("metric", "value"),
    }  # fmt: skip


def test_a_number_changed_in_the_text_alone_is_found():
    rng = np.random.default_rng(3)
    changed = 0
    while changed < 100:
        world = World(rng)
        written = world.report([str(rng.choice(["weight", "level", "threshold", "count", "metric"]))])
        said = written["sections"][0]["sentences"][0]
        numbers = re.findall(r"(?<= is )[\d.]+\d", said["text"])
        values = [value for value in said["claims"][0].values() if isinstance(value, int | float)]
        other = str(round(float(rng.uniform(0, 9)), 2))
        if not numbers or any(abs(float(other) - value) < 0.06 for value in values):
            continue
        said["text"] = said["text"].replace(f"is {numbers[0]}", f"is {other}", 1)
        rows = check_report(written, world.tree, **world.options()).rows
        assert [(row.problem, row.kind, row.said) for row in rows] == [("uncovered", "number", other)]
        changed += 1


# ---- the paper's sample report: the facts of its sentences as claims

WEIGHTS = {"radius2": 0.04, "area1": 0.11, "concavity1": 0.34, "perimeter3": 0.51}
SLIP = "Irregular cell shape (`concave_points3` and `concavity1`) is mandatory for malignant cells."
SAMPLE = report(
    ("At the root, the model uses a High Hyper-Conjunction (HHC).", {"kind": "level", "gate": [], "code": "HHC"}),
    ("Aggregator HHD, a High Hyper-Disjunction.", {"kind": "level", "gate": [1], "code": "HHD"}),
    *((f"{name} (Weight: {value})", {"kind": "weight", "of": name, "in": [1], "value": value})
      for name, value in WEIGHTS.items()),
    ("perimeter3 is the most influential of them.", {"kind": "rank", "of": "perimeter3", "in": [1], "rank": 1}),
    ("radius2 is the least influential.", {"kind": "rank", "of": "radius2", "in": [1], "rank": -1}),
    ("The model requires both high concave_points3 and evidence from the group.",
     {"kind": "role", "of": "concave_points3", "role": "mandatory"}, {"kind": "role", "of": [1], "role": "mandatory"},
     {"kind": "direction", "feature": "concave_points3", "value": "rising"}),
    (SLIP, {"kind": "role", "of": "concave_points3", "role": "mandatory"},
     {"kind": "role", "of": "concavity1", "role": "mandatory"}),
)  # fmt: skip


def test_of_the_sample_report_one_statement_is_against_the_tree():
    found = check_report(SAMPLE, PAPER, label="malignant")
    assert [(row.problem, row.kind, row.said, row.sentence) for row in found.rows] == [
        ("wrong", "role", 'of "concavity1", role "mandatory"', SLIP)
    ]  # concavity1 is below HHD, where any of four is enough
    assert (found.checked, found.sentences, found.unchecked, found.remarks) == (13, 10, 0, ())
    assert not found.passed
    assert str(found).startswith("1 finding: 13 claims checked; 0 of 10 sentences make no claim.\n- role, wrong: ")


# ---- single claims


def test_a_number_is_right_when_the_true_one_rounds_to_it():
    tree = Tree.parse("C(income: 0.3349, savings: 0.6651)")
    text = json.dumps(report(("x", {"kind": "weight", "of": "income", "value": "{}"})))
    for right in ("0.3", "0.33", "0.335", "0.3349", "0.33490", "3.3e-1", "33e-2"):
        assert check_report(text.replace('"{}"', right), tree).passed, right
    for wrong in ("0.30", "0.4", "0.34", "0.334", "0.33491", "0", "33", "1"):
        assert not check_report(text.replace('"{}"', wrong), tree).passed, wrong


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ({"kind": "threshold", "feature": "radius", "value": 18.5, "truth": 0.5, "unit": "mm"}, ""),
        ({"kind": "threshold", "feature": "radius", "value": 18.5, "truth": 0.5, "unit": "cm"}, "wrong threshold"),
        ({"kind": "threshold", "feature": "radius", "value": 18.6, "truth": 0.5}, "wrong threshold"),
        ({"kind": "threshold", "feature": "radius", "value": 25, "truth": 1}, ""),
        ({"kind": "threshold", "feature": "radius", "value": 30, "truth": 1}, "wrong threshold"),
        ({"kind": "threshold", "feature": "area", "value": 880, "truth": 0.5}, ""),
        ({"kind": "threshold", "feature": "area", "value": 880, "truth": 1}, "wrong threshold"),
        ({"kind": "threshold", "feature": "colour", "category": "blue", "truth": 0.3}, ""),
        ({"kind": "threshold", "feature": "colour", "category": "green", "truth": 0}, ""),
        ({"kind": "threshold", "feature": "colour", "category": 3, "truth": 0}, "wrong threshold"),
        ({"kind": "threshold", "feature": "colour", "value": 3, "truth": 0}, "wrong threshold"),
        ({"kind": "threshold", "feature": "radius", "category": "red", "truth": 0}, "wrong threshold"),
        ({"kind": "level", "gate": "big cell", "code": "HXD"}, "wrong level"),
        ({"kind": "level", "gate": "dents", "code": "HD"}, "unknown level"),
        ({"kind": "level", "gate": [7], "code": "HD"}, "unknown level"),
        ({"kind": "weight", "of": "texture", "value": 0.5}, "unknown weight"),
        ({"kind": "weight", "of": "age", "value": 0}, ""),  # a column of the data that the tree does not use
        ({"kind": "weight", "of": "age", "value": 0.1}, "wrong weight"),
        ({"kind": "role", "of": "age", "role": "mandatory"}, "wrong role"),
        ({"kind": "role", "of": "age", "role": "mandatory", "holds": False}, ""),
        ({"kind": "role", "of": "dents", "role": "mandatory", "for": "maybe"}, "unknown role"),
        ({"kind": "role", "of": "area", "role": "sufficient", "in": "big cell"}, ""),
        ({"kind": "role", "of": "area", "role": "sufficient"}, "wrong role"),
        ({"kind": "role", "of": "big cell", "role": "mandatory"}, ""),
        ({"kind": "role", "of": "dents", "role": "sufficient", "for": "no"}, ""),
        ({"kind": "direction", "feature": "age", "value": "neither"}, "wrong direction"),
        ({"kind": "direction", "feature": "colour", "value": "neither"}, ""),
        ({"kind": "rank", "of": "age", "rank": 1}, "wrong rank"),
        ({"kind": "rank", "of": "big cell", "rank": 2}, "unknown rank"),
        ({"kind": "rank", "of": "big cell", "order": "more", "than": "colour"}, ""),
        ({"kind": "count", "what": "rows", "value": 3}, "unknown count"),
        ({"kind": "metric", "name": "accuracy", "value": 0.9}, "unknown metric"),
    ],
)
def test_a_claim_is_right_wrong_or_cannot_be_checked(claim, found):
    SCHEMA.validate(report(("So it is.", claim)))
    assert one(claim, known=["age"]) == found


def test_necessity_is_that_of_the_decision_and_not_of_the_gate_alone():
    soft = Tree.parse("SC(income: 0.9, savings: 0.1)")  # nice to have most, but without income there is no yes
    assert one({"kind": "role", "of": "income", "role": "mandatory"}, soft) == ""
    assert one({"kind": "role", "of": "savings", "role": "mandatory"}, soft, threshold=0.3) == "wrong role"


def test_a_name_of_two_parts_asks_for_a_path():
    tree = Tree.parse("C(a: 0.3, a = D(b, c): 0.7)")
    assert one({"kind": "weight", "of": "a", "value": 0.3}, tree) == "unknown weight"
    assert one({"kind": "weight", "of": [1], "value": 0.7}, tree) == ""


def test_labels_without_rows_are_refused():
    with pytest.raises(ValueError, match="give X, the rows, as well"):
        check_report(SAMPLE, PAPER, y=[1, 0])


# ---- text


def test_names_and_numbers_without_a_claim_are_found():
    area = {"kind": "weight", "of": "area", "in": "big cell", "value": 0.75}
    assert text_of("In big cell, area has 75% of the weight (0.75, .8 or .9).", area) == [("number", ".9")]
    assert text_of("Area weighs 0.8 in the Big_Cell.", area) == []
    assert text_of("Area weighs 1 in it, twice the radius.", area) == [("feature", "radius"), ("number", "1")]
    assert text_of("Area is 1 of four features.", area) == [("number", "1"), ("number", "four")]
    assert text_of("The HD operator, enough to have any.", area) == [("level", "enough to have any"), ("level", "HD")]
    assert text_of("It also uses `texture` and skin_tone.", area) == [("name", "texture"), ("name", "skin_tone")]
    assert text_of("The radius3 is not the radius in x2.") == [("feature", "radius")]
    assert text_of("A red or `blue` cell.") == []


def test_a_sentence_covers_the_answers_it_speaks_of():
    tree = Tree.parse("HC(income: 0.6, savings: 0.4)")
    features = [Feature(name, "truth") for name in ("income", "savings", "age_group")]
    decision = Decision([tree], [Link(8.0, 0.62)], ["rejected", "accepted"], features)
    rising = {"kind": "direction", "feature": "income", "value": "rising"}
    falling = {"kind": "direction", "feature": "income", "value": "falling", "for": "rejected"}
    assert text_of("More income speaks for accepted.", rising, tree=decision) == []
    assert text_of("More income speaks for rejected.", rising, tree=decision) == [("class", "rejected")]
    assert text_of("Less income speaks for rejected.", falling, tree=decision) == []
    turn = {"kind": "threshold", "value": 0.62}
    assert text_of("Above 62% it is accepted, else rejected.", turn, tree=decision) == []
    assert text_of("The age_group counts too.", turn, tree=decision) == [("column", "age_group")]


def test_names_of_one_or_two_letters_are_known_between_backticks():
    tree = Tree.parse("C(weight: 0.7, is: 0.2, a: 0.1)")
    assert text_of("It is a claim; `a` and `is` are not.", tree=tree) == [("feature", "a"), ("feature", "is")]


def test_a_title_makes_no_claim():
    found = check_report(report(("So it is.",), title="Area weighs 0.9"), CELL)
    assert [(row.kind, row.said, row.where) for row in found.rows] == [
        ("feature", "Area", (1, 0)), ("number", "0.9", (1, 0)),
    ]  # fmt: skip
    assert (found.unchecked, found.sentences) == (1, 1)
    assert found.remarks == ("no claim is about dents, area, colour or radius, which the tree uses",)


@given(trees)
@settings(max_examples=20)
def test_no_name_makes_a_true_claim_false(tree):
    total = {}
    for path, node in tree.walk():
        if isinstance(node, Leaf):
            steps = [(tree[path[:i]], path[i]) for i in range(len(path))]
            share = float(np.prod([gate.weights[i] for gate, i in steps if isinstance(gate, Gate)]))
            total[node.feature] = total.get(node.feature, 0.0) + share
    gates = {node.name for _, node in tree.walk() if isinstance(node, Gate)}
    claims = [{"kind": "weight", "of": name, "value": value} for name, value in total.items() if name not in gates]
    found = check_report(json.dumps(report(("So it is.", *claims))), tree)
    assert found.passed, str(found)


# ---- rendering


@pytest.mark.parametrize("name", [*NAMES, "\ud800", "[x](javascript:alert(1))", "1. item", "- item"])
def test_hostile_text_is_shown_as_text(name):
    claim = {"kind": "weight", "of": name, "value": 0.5}
    found = check_report(report((name, claim), (f"<b>{name}", claim), title=name), CELL)
    assert all(line.isprintable() for line in str(found).split("\n"))
    page, text = found.to_html(), found.to_markdown()
    page.encode()
    assert set(re.findall(r"</?(\w+)", page)) <= {
        "html", "head", "meta", "title", "style", "body", "p", "em", "h2", "sup", "a", "mark", "ol", "li",
    }  # fmt: skip
    assert "<" not in text
    assert all(line.isprintable() for line in text.split("\n"))
    assert re.search(r"(?<!\\)\]\(", text) is None


def test_a_checked_report_marks_what_was_found():
    found = check_report(SAMPLE, PAPER, label="malignant")
    page, text = found.to_html(), found.to_markdown()
    assert "is mandatory for malignant cells. **[1]**" in text
    assert '\n1. role, wrong: of "concavity1", role "mandatory"; it is nothing certain for the whole decision' in text
    assert page.count("<mark>") == 1
    assert 'is mandatory for malignant cells.</mark><sup><a href="#finding-1">1</a></sup>' in page
    assert '<li id="finding-1">role, wrong: ' in page
    assert "What the check found" not in check_report(report(("So it is.",)), PAPER).to_markdown()


def test_findings_are_plain_data():
    found = check_report(SAMPLE, PAPER, label="malignant")
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["kind"] == "role"
    assert list(found.to_frame()["problem"]) == ["wrong"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rows = ()


# ---- the document


@pytest.mark.parametrize("text", ["{}", "```json\n{}\n```", "Here it is:\n\n```\n{}\n```\nAnything else?", "  {}\n"])
def test_a_report_may_be_fenced(text):
    assert check_report(text.replace("{}", json.dumps(SAMPLE, indent=1)), PAPER, label="malignant").checked == 13


CLAIM = {"kind": "weight", "of": "area", "value": 0.5}
BROKEN = [
    ([], "expected object"),
    ({}, "report: 'sections' is missing"),
    ({"sections": []}, "report.sections: expected something"),
    ({"sections": {}}, "expected array"),
    ({"sections": [{"title": "T"}]}, r"sections\[0\]: 'sentences' is missing"),
    ({"sections": [{"title": "T", "sentences": [], "x": 1}]}, "'x' is not expected"),
    ({"version": 2, "sections": [{"title": "T", "sentences": []}]}, "report.version: expected 1, got 2"),
    ({"version": True, "sections": [{"title": "T", "sentences": []}]}, "report.version"),
    (report(("",)), r"sentences\[0\].text: expected something"),
    (report((3,)), r"text: expected string, got 3"),
    (report(("x", "area")), r"claims\[0\]: expected object"),
    (report(("x", {})), r"claims\[0\].kind: expected one of weight, rank"),
    (report(("x", {"kind": "mood"})), "got 'mood'"),
    (report(("x", {"kind": ["weight"]})), "kind: expected one of"),
    (report(("x", {**CLAIM, "value": "0.5"})), "value: expected number, got '0.5'"),
    (report(("x", {**CLAIM, "value": True})), "value: expected number, got True"),
    (report(("x", {**CLAIM, "value": None})), "value: expected number, got nothing"),
    (report(("x", {**CLAIM, "value": 1e301})), "a number within 1e300"),
    (report(("x", {**CLAIM, "value": 10**400})), "a number within 1e300"),
    (report(("x", {**CLAIM, "of": []})), None),  # the root
    (report(("x", {**CLAIM, "of": ""})), "of: expected something"),
    (report(("x", {**CLAIM, "of": [0.5]})), "expected integer"),
    (report(("x", {**CLAIM, "of": [-1]})), "expected 0 to 1000000"),
    (report(("x", {**CLAIM, "of": {"area": 1}})), "of: expected string or array"),
    (report(("x", {**CLAIM, "more": 1})), "'more' is not expected; it has kind, of, in, value"),
    (report(("x", {"kind": "rank", "of": "area"})), "give one of 'rank' and 'order'"),
    (report(("x", {"kind": "rank", "of": "area", "rank": 1, "order": "more", "than": "x"})), "give one of"),
    (report(("x", {"kind": "rank", "of": "area", "order": "more"})), "'than' is missing"),
    (report(("x", {"kind": "role", "of": "area", "role": "gatekeeper"})), "expected mandatory or desired"),
    (report(("x", {"kind": "role", "of": "area", "role": "neutral", "holds": 1})), "holds: expected boolean"),
    (report(("x", {"kind": "threshold", "value": 1, "truth": 0.5})), "'feature' is missing"),
    (report(("x", {"kind": "threshold", "feature": "area", "truth": 0.5})), "give one of 'value' and 'category'"),
    (report(("x", {"kind": "threshold", "feature": "area", "truth": 1.5, "value": 1})), "expected 0 to 1"),
    (report(("x", {"kind": "count", "what": "area", "value": 1})), "what: expected features or"),
    (report(("x", {"kind": "count", "what": "gates", "value": 1.5})), "value: expected integer"),
    (report(("x", {"kind": "count", "what": "gates", "value": 2.0})), None),
]  # fmt: skip


@pytest.mark.parametrize(("written", "problem"), BROKEN)
def test_the_reader_refuses_what_the_schema_refuses(written, problem):
    assert SCHEMA.is_valid(written) == (problem is None)
    for given_as in (written, json.dumps(written)):
        if problem is None:
            check_report(given_as, CELL)
        elif given_as == []:
            with pytest.raises(TypeError, match="got list"):
                check_report(given_as, CELL)
        else:
            with pytest.raises(ValueError, match=problem):
                check_report(given_as, CELL)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("perimeter3 is mandatory.", r"the JSON that prompt\(model\) asks for, not plain text"),
        ("", "not plain text"),
        ('{"sections": [', "line 1, column 15"),
        ('{"sections": [], "sections": []}', "a key twice in one object, which has 'sections'"),
        ('{"sections": NaN}', "a number within 1e300, got NaN"),
        ('{"sections": -Infinity}', "a number within 1e300"),
        ('{"sections": 1e99999999999999999999}', "cannot be read|within 1e300"),
        (f'{{"sections": {"9" * 5000}}}', "within 1e300"),
        ('{"sections": 1e9999999}', "a number within 1e300"),
        ("[" * 100_000, "cannot be read|not plain text"),
    ],
)
def test_what_is_not_json_is_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        check_report(text, CELL)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_number_is_refused(value):
    with pytest.raises(ValueError, match="value: expected a number within 1e300"):
        one({**CLAIM, "value": value})


@pytest.mark.parametrize("number", ["1e-9999999", "0." + "9" * 5000, "-0.0", "1e300"])
def test_a_strange_number_is_a_number(number):
    written = json.dumps(report(("x \u2028 y", {**CLAIM, "value": "?"})), ensure_ascii=False).replace('"?"', number)
    assert [row.problem for row in check_report(written, CELL).rows] == ["wrong"]


def test_a_report_must_be_text_or_a_dictionary():
    with pytest.raises(TypeError, match="a report is JSON, as text or as a dictionary, got bytes"):
        check_report(b"{}", PAPER)


def test_the_schema_is_one_and_a_copy():
    jsonschema.Draft202012Validator.check_schema(report_schema())
    assert tuple(report_schema()["$defs"]["metric"]["properties"]["name"]["enum"]) == METRICS
    report_schema()["properties"].clear()
    assert report_schema()["properties"]


def test_a_long_chain_is_checked():
    node = Leaf("x000")
    for i in range(1, 300):
        node = Gate([node, Leaf(f"x{i:03}")], "SC", [0.9, 0.1])
    assert one({"kind": "rank", "of": "x299", "rank": 1}, Tree(node)) == ""
    assert one({"kind": "role", "of": [0], "role": "mandatory"}, Tree(node)) == ""
