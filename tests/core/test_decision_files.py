"""Decision files: every problem has a place, and what is written can be read."""

import dataclasses

import pytest

from baconlogic import Decision, Gate, Leaf, ModelFormatError, Tree, load
from baconlogic.core import files
from baconlogic.core.decision import Feature, Link

FEATURES = [Feature("a", "truth"), Feature("b", "number"), Feature("colour", "category"), Feature("c", "truth")]
TWO = Tree.parse('HC(a: 0.6, colour[1 if "red", other 0.2]: 0.4)')
BOTH = Decision([TWO], [Link(8.0, 0.42)], ["benign", "malignant"], FEATURES, {"rows": 569, "scores": [0.97, None]})
MANY = Decision([Tree("a"), Tree("c"), TWO], [Link(5, 0.5)] * 3, [3, 1, 2], FEATURES)


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def doubled(levels):
    value = [1]
    for _ in range(levels):
        value = [value] * 2
    return value


NODES = {"nodes": [{"leaf": "a", "criterion": {"kind": "given"}}] * 60_000}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("links"), "decision: 'links' is missing"),
        (lambda d: d.update(more=1), "decision: unknown entry 'more'"),
        (lambda d: d.update(classes={}), "decision.classes: expected a list, got a dict"),
        (lambda d: d.update(classes=[]), "decision: a decision needs at least one class"),
        (lambda d: d.update(classes=["a", 1, True]), "decision: classes must differ, but 1 and True are equal"),
        (lambda d: d.update(classes=["a", 2.5]), "decision.classes[1]: expected a whole number, got 2.5"),
        (lambda d: d.update(classes=["a", None]), "decision.classes[1]: expected a whole number, got None"),
        (lambda d: d.update(classes=["a", {}]), "decision.classes[1]: 'float' is missing"),
        (lambda d: d.update(classes=["a", {"float": True}]), "decision.classes[1].float: expected a finite number"),
        (lambda d: d.update(classes=["a", {"float": float("nan")}]), "decision.classes[1].float: expected a finite"),
        (lambda d: d.update(classes=["a", "\ud800"]), "decision.classes[1]: a class holds a character"),
        (lambda d: d.update(classes=["a", 10**5000]), "decision.classes[1]: a class that is a number must lie within"),
        (lambda d: d.update(classes=["a", "b", "c"]), "decision: a decision between 3 class(es) needs 3 trees"),
        (lambda d: d["trees"].append(d["trees"][0]), "needs one tree, which speaks for the second; got 2 tree(s)"),
        (lambda d: d["trees"][0]["nodes"].pop(), "decision.trees[0].nodes[0]: no later node has this one"),
        (lambda d: d.update(trees=[NODES, NODES]), "decision.trees: at most 100000 nodes are read, got 120000"),
        (lambda d: d["links"].clear(), "decision: each tree needs a link, but there are 1 tree(s) and 0 link(s)"),
        (lambda d: d["links"][0].update(steepness=-1), "decision.links[0]: the steepness of a link must be positive"),
        (lambda d: d["links"][0].update(threshold="x"), "decision.links[0].threshold: expected a finite number"),
        (lambda d: d["links"][0].update(threshold=1e301), "decision.links[0].threshold: expected a finite number"),
        (lambda d: d["links"].append(7), "decision.links[1]: expected an object, got 7"),
        (lambda d: d["features"][1].update(kind="date"), "decision.features[1]: the kind of a feature must be number"),
        (lambda d: d["features"][1].update(name=" "), "decision.features[1]: a feature's name must be text"),
        (lambda d: d["features"][1].update(name="a"), "decision: the feature 'a' is listed twice"),
        (lambda d: d["features"].pop(2), "decision: the trees use 'colour', which the features do not list"),
        (lambda d: d.update(provenance=[]), "decision.provenance: expected an object, got a list"),
        (lambda d: d["provenance"].update(x=float("nan")), "decision.provenance: provenance['x'] must be a finite"),
        (lambda d: d["provenance"].update(x=10**5000), "decision.provenance: provenance['x'] must be a finite"),
        (lambda d: d["provenance"].update({"\n": {2}}), "decision.provenance: provenance['\\n'] must be text"),
        (lambda d: d["provenance"].update(x="\ud800"), "provenance['x'] holds a character that no file can store"),
        (lambda d: d["provenance"].update(x=nested(40)), "at most 100000 entries in 32 levels"),
        (lambda d: d["provenance"].update(x=doubled(30)), "at most 100000 entries in 32 levels"),
        (lambda d: d["provenance"].update(x=d["provenance"]), "at most 100000 entries in 32 levels"),
    ],
)
def test_problems_of_a_file_are_named_with_their_place(change, message):
    document = BOTH.to_dict()
    change(document["decision"])
    with pytest.raises(ModelFormatError) as caught:
        Decision.from_dict(document)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_tree_is_not_a_decision(tmp_path):
    with pytest.raises(ModelFormatError, match=r"it holds a decision, not a tree; use Decision\.from_dict, or load"):
        Tree.from_dict(BOTH.to_dict())
    with pytest.raises(ModelFormatError, match=r"it holds a tree, not a decision; use Tree\.from_dict, or load"):
        Decision.from_dict(TWO.to_dict())
    with pytest.raises(ModelFormatError, match="document: unknown entry 'tree'"):
        Decision.from_dict(BOTH.to_dict() | TWO.to_dict())
    with pytest.raises(ModelFormatError, match="document: 'decision' is missing"):
        Decision.from_dict({"format": "baconlogic", "version": 1})


def test_what_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    BOTH.save(tmp_path / "model.json")
    monkeypatch.setattr(files, "MOST_BYTES", 1024**2)
    with pytest.raises(ValueError, match="at most 1 MiB"):
        dataclasses.replace(BOTH, provenance={"notes": "x" * 1024**2}).save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == BOTH
    monkeypatch.setattr(files, "MOST_NODES", 4)
    with pytest.raises(ValueError, match="at most 4 nodes, got 5"):
        MANY.to_dict()


def test_a_deep_tree_is_no_obstacle(tmp_path):
    root = Leaf("a")
    for _ in range(5000):
        root = Gate([root, "c"], "HC")
    decision = dataclasses.replace(BOTH, trees=[Tree(root)])
    decision.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == decision
