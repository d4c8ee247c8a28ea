"""A log keeps edits so that they can be read, undone, replayed and carried away."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_edit import any_tree

from baconlogic import Decision, Leaf, Tree, edit
from baconlogic.core.criteria import Sigmoid
from baconlogic.core.decision import Feature, Link
from baconlogic.edit import EditLog
from baconlogic.edit._log import OPERATIONS

TREE = Tree.parse(
    "HC(size = HD(radius[0 at 10, 1 at 20]: 0.3, area[0 at 1, 1 at 9]: 0.7): 0.6, dents, lobes: 0.2)".replace(
        "dents,", "dents: 0.2,"
    )
)
RNG = np.random.default_rng(0)
X = {"radius": RNG.uniform(8, 22, 80), "area": RNG.uniform(0, 10, 80), "dents": RNG.random(80), "lobes": RNG.random(80)}
Y = TREE.evaluate(X) > 0.4
EDITS = [
    ("set_andness", ("size", "D"), {}),
    ("reweight", ("size", {"radius": 0.5}), {}),
    ("reweight", ((), [0.5, 0.3, 0.2]), {}),
    ("negate", ("dents",), {}),
    ("set_criterion", ("radius", "half at 15, slope 0.8"), {}),
    ("set_criterion", ("area", Sigmoid(5, 1, unit="mm2")), {}),
    ("rename", ("size", "extent"), {}),
    ("rename", ({"radius": "area", "area": "radius"},), {}),
    ("add", ("size", Leaf("dents"), 0.2), {}),
    ("add", ((1,), "not lobes"), {"andness": "SC"}),
    ("remove", ("lobes",), {}),
    ("remove", ((0, 1),), {}),
    ("prune", (2,), {}),
    ("prune", (), {"features": ["dents"]}),
    ("regroup", ({"a": ["radius", "dents"], "b": ["area"]},), {}),
    ("simplify", (), {"tolerance": 0.05}),
    ("simplify", (0.05,), {"X": X}),
    ("prune", (), {"X": X, "y": Y, "tolerance": 0.1}),
    ("snap", (), {}),
    ("refit", (X, Y), {"free": {"size": ["weights"]}}),
    ("refit", (X, Y), {"free": [(0, 1), "andness", Leaf("lobes")]}),
]


def made(choices):
    """A log of those edits that the tree allows, one after the other."""
    log = EditLog(TREE, X, Y, threshold=0.4)
    for i in choices:
        name, args, kwargs = EDITS[i]
        try:
            log.apply(name, *args, reason=f"because {i}", **kwargs)
        except (LookupError, ValueError, TypeError):
            continue
    return log


several = st.lists(st.integers(0, len(EDITS) - 1), max_size=6).map(made)


def test_every_kind_of_edit_is_recorded_and_replayed():
    for i, (name, *_) in enumerate(EDITS):
        log = made([i])
        assert [entry.operation for entry in log.entries] == [name]
        assert log.replay() == log.tree
    assert {name for name, *_ in EDITS} == set(OPERATIONS)


@settings(max_examples=20)
@given(several)
def test_replaying_gives_the_same_tree_and_undoing_all_the_first(log):
    end, count = log.tree, len(log.entries)
    assert log.replay() == end
    for entry in reversed(log.entries):
        assert log.tree == entry.after
        assert log.undo() == entry.before
    assert log.tree == log.original == TREE
    with pytest.raises(ValueError, match="nothing to undo"):
        log.undo()
    for _ in range(count):
        log.redo()
    assert log.tree == end
    with pytest.raises(ValueError, match="nothing to redo"):
        log.redo()


@settings(max_examples=20)
@given(several, st.integers(0, 2))
def test_a_log_goes_through_json(log, undone):
    for _ in range(min(undone, len(log.entries))):
        log.undo()
    document = json.loads(json.dumps(log.to_dict()))
    again = EditLog.from_dict(document, X, Y)
    assert again.tree == log.tree
    assert again.entries == log.entries
    assert again.replay() == log.tree
    assert str(again) == str(log)
    assert again.to_dict() == log.to_dict()
    without = EditLog.from_dict(document)
    assert [entry.change for entry in without.entries] == [entry.change for entry in log.entries]
    assert without.tree == log.tree


@settings(max_examples=20)
@given(several)
def test_the_recorded_change_is_what_one_computes(log):
    for entry in log.entries:
        assert entry.change == edit.change(entry.before, entry.after, X, Y, threshold=0.4)
    assert log.change() == edit.change(TREE, log.tree, X, Y, threshold=0.4)


@settings(max_examples=20)
@given(any_tree)
def test_any_tree_can_be_logged(tree):
    log = EditLog(tree)
    log.apply(edit.negate, ())
    log.apply(edit.simplify)
    log.apply(edit.snap)
    assert EditLog.from_dict(json.loads(json.dumps(log.to_dict()))).replay() == log.tree
    assert all(entry.change is None for entry in log.entries)


def test_a_new_edit_ends_what_could_be_redone():
    log = made([0, 3])
    log.undo()
    log.apply(edit.snap)
    assert [entry.operation for entry in log.entries] == ["set_andness", "snap"]
    with pytest.raises(ValueError, match="nothing to redo"):
        log.redo()


def test_a_failed_edit_leaves_the_log_as_it_was():
    log = made([0])
    with pytest.raises(LookupError):
        log.apply("set_andness", "nothing", "HC")
    with pytest.raises(TypeError):
        log.apply("set_andness")
    with pytest.raises(ValueError, match="not a degree of truth"):
        log.apply("set_criterion", "area", "missing 0.5")  # areas are no truths: no row could be read
    assert len(log.entries) == 1
    assert log.replay() == log.tree


def test_what_cannot_be_replayed_is_refused():
    log = EditLog(TREE, X, Y)
    with pytest.raises(ValueError, match="<lambda> cannot be recorded and replayed; the operations are add"):
        log.apply(lambda tree: tree)
    with pytest.raises(ValueError, match="'shuffle' cannot be recorded"):
        log.apply("shuffle")
    with pytest.raises(TypeError, match="only its own X"):
        log.apply("simplify", 0.1, dict(X))
    with pytest.raises(TypeError, match="cannot be written as plain data"):
        log.apply("rename", "size", object())
    with pytest.raises(TypeError, match="a reason is text"):
        log.apply("snap", reason=3)
    assert log.entries == ()
    with pytest.raises(ValueError, match="labels y need their rows X"):
        EditLog(TREE, y=Y)
    with pytest.raises(ValueError, match="not what EditLog"):
        EditLog.from_dict({"original": TREE.to_dict()})


def test_edits_can_be_replayed_on_another_tree():
    log = EditLog(TREE)
    log.apply("set_andness", "size", "D")
    other = Tree.parse("SC(size = HC(a, b), c)")
    assert log.replay(other) == Tree.parse("SC(size = D(a, b), c)")
    assert log.tree["size"].level.code == "D"


def test_an_edit_by_data_needs_the_data_to_be_replayed():
    log = made([17])
    assert log.entries[0].arguments["threshold"] == 0.4
    without = EditLog.from_dict(log.to_dict())
    assert without.tree == log.tree
    with pytest.raises(ValueError, match="went by the log's X; give it"):
        without.replay()


def test_a_log_of_a_decision_goes_by_its_threshold_and_labels():
    features = [Feature(name, "truth" if name in ("dents", "lobes") else "number") for name in X]
    decision = Decision([TREE], [Link(9, 0.3)], ["benign", "malignant"], features)
    y = np.where(Y, "malignant", "benign")
    log = EditLog(decision, np.column_stack([*X.values()]), y)
    log.apply("prune", X=log.X, y=log.y, tolerance=0.05)
    assert log.entries[0].change == edit.change(decision, log.tree, X, y)
    assert log.entries[0].arguments["threshold"] == 0.3
    again = EditLog.from_dict(json.loads(json.dumps(log.to_dict())), log.X, y)
    assert again.replay() == log.tree
    assert again.entries == log.entries


def test_renamed_columns_are_not_measured_on_a_table_without_them():
    log = EditLog(TREE, X, Y)
    log.apply("rename", {"radius": "mean radius"})
    assert log.entries[0].change is None
    assert "mean radius" in log.tree.features


def test_the_protocol_reads_well():
    log = EditLog(TREE, X, Y, threshold=0.4)
    assert str(log) == "no edits"
    log.apply("set_andness", "size", "D", reason="one measure of size is enough")
    log.apply("set_criterion", "area", Sigmoid(5, 1))
    lines = str(log).split("\n")
    assert lines[0] == "1. set_andness(what='size', andness='D'): one measure of size is enough"
    assert lines[1].startswith("   no truth changes by more than 0.")
    assert lines[2] == "2. set_criterion(what='area', criterion=[half at 5, slope 1])"
    assert lines[-1].startswith("altogether: no truth changes by more than 0.")
    assert log.entries[0].to_dict()["after"] == log.entries[0].after.formula()
    assert repr(log).startswith("EditLog(2 edits of Tree.parse(")


def test_paths_in_a_list_are_replayed_and_read_well():
    log = EditLog(TREE, X, Y, threshold=0.4)
    after = log.apply("refit", X, Y, free=[(0,), "andness"], sample_weight=np.ones(80), reason="new ward")
    assert after == edit.refit(TREE, X, Y, free=[(0,), "andness"], threshold=0.4)
    assert EditLog.from_dict(json.loads(json.dumps(log.to_dict())), X, Y).replay() == after
    assert "free=[(0,), 'andness']" in str(log)
    assert "1, ... 80 in all]" in str(log)
    log.apply("regroup", {"flat": ("dents", "lobes")})
    assert "groups={'flat': ('dents', 'lobes')}" in str(log)
