import json
import os
import random
import signal
import stat
import subprocess
import sys

import jsonschema
import pytest
from hypothesis import given, settings
from strategies import trees

from baconlogic import Decision, ModelFormatError, Tree, load
from baconlogic.core import files
from baconlogic.core.decision import Feature, Link
from baconlogic.core.gcd import AGGREGATORS

TREE = Tree.parse(
    'buy = HHC(shape: 0.5, "size, all in" = HHD(radius[0 at 12, 1 at 25, missing 0.5, unit "mm"]: 0.2, '
    'not area[half at 550, slope 0.01]: 0.5, exact SC(colour[1 if "red", 0.4 if 7, 0.2 if true, other 0], x): .3): .5)'
)
DECISION = Decision(
    trees=[Tree.parse("HC(a, b[0 at 1, 1 at 2])"), Tree("a"), Tree.parse("not a")],
    links=[Link(9.5, 0.42), Link(3.0, 1.5), Link(20.0, 0.1)],
    classes=["1", 1, 2.5],
    features=[Feature("a", "truth"), Feature("b", "number"), Feature("c", "category")],
    provenance={"rows": 10, "scores": [0.9]},
)


@settings(max_examples=40)
@given(trees)
def test_from_dict_gives_back_what_to_dict_wrote(tree):
    document = json.loads(json.dumps(tree.to_dict()))
    assert Tree.from_dict(document) == tree
    jsonschema.validate(document, files.schema())


def test_save_and_load(tmp_path):
    path = tmp_path / "model.json"
    TREE.save(path)
    assert load(path) == TREE
    Tree("a").save(str(path))
    assert load(str(path)) == Tree("a")
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_a_file_has_a_line_a_node(tmp_path):
    Tree.parse("SC(a: 0.6, HC(b[0 at 1, 1 at 2], c): 0.4)").save(tmp_path / "model.json")
    lines = (tmp_path / "model.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 13
    assert lines[6] == '      {"leaf": "b", "criterion": {"kind": "ramp", "points": [[1.0, 0.0], [2.0, 1.0]]}},'


def test_whole_numbers_may_be_written_with_a_point():
    document = json.loads(
        json.dumps(TREE.to_dict()).replace('"version": 1', '"version": 1.0').replace("[0, 7]", "[0.0, 7]")
    )
    assert Tree.from_dict(document) == TREE


def test_an_error_names_the_file(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"model\.json: format: expected 'baconlogic', got 'other'"):
        load(path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        TREE.save(tmp_path / "nowhere" / "model.json")


def test_the_schema_is_a_schema():
    assert files.schema()["$defs"]["gate"]["properties"]["gate"]["enum"] == list(AGGREGATORS)
    jsonschema.Draft202012Validator.check_schema(files.schema())


def corrupt(rng, document):
    """Change one thing somewhere in the document."""
    document = json.loads(json.dumps(document))
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        if not (isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8):
            break
        place = place[key]
    junk = [
        None,
        True,
        -1,
        0,
        3,
        1e400,
        2.5,
        1e18,
        "",
        "text",
        "\ud800",
        " ",
        [],
        {},
        [1, 2],
        {"a": 1},
        "gcd",
        10**400,
        [[]],
    ]
    change = rng.choice(["replace", "delete", "add", "repeat"])
    if change == "delete":
        del place[key]
    elif change == "add" and isinstance(place, dict):
        place[rng.choice(["extra", "name", "missing", "inputs", "leaf", "not", "float", "tree", "decision"])] = (
            rng.choice(junk)
        )
    elif change == "repeat" and isinstance(place, list):
        place.insert(rng.randrange(len(place) + 1), place[key])
    else:
        place[key] = rng.choice(junk)
    return document


def scramble(rng, text):
    """Change a few characters of the text."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        cut = rng.choice([0, 1, 1, 10, len(text)])
        text = (
            text[:at]
            + rng.choice(["", '"', "{", "}", "[", "]", ",", ":", "9", "NaN", "-Infinity", "\x00", "e9", "é"])
            + text[at + cut :]
        )
        text = text or " "
    return text


@pytest.mark.parametrize("model", [TREE, DECISION], ids=["tree", "decision"])
def test_a_thousand_corrupted_files_give_model_format_error_and_nothing_else(tmp_path, model):
    rng = random.Random(0)  # noqa: S311
    validator = jsonschema.Draft202012Validator(files.schema())
    path = tmp_path / "model.json"
    refused = harmless = 0
    while refused < 1000:
        if rng.random() < 0.5:
            text = json.dumps(corrupt(rng, model.to_dict()))
        else:
            text = scramble(rng, json.dumps(model.to_dict()))
        path.write_bytes(text.encode("utf-8", errors=rng.choice(["replace", "surrogatepass"])))
        lines = [""]
        try:
            found = load(path)
        except ModelFormatError as problem:
            lines = str(problem).splitlines()
            refused += 1
        else:  # a change that leaves the file valid, such as another digit: then it says what the model says
            harmless += 1
            document = json.loads(text)
            assert found.to_dict() == document
            assert validator.is_valid(document)
        assert len(lines) == 1
    assert harmless < refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=2), "version: this library reads version 1, the file has 2"),
        (lambda d: d.update(version=True), "version: expected a whole number, got True"),
        (lambda d: d.update(format="other"), "format: expected 'baconlogic', got 'other'"),
        (lambda d: d.update(format=10**5000), "format: expected 'baconlogic', got a int"),
        (lambda d: node(d, -1).update(inputs=[0, 10**5000]), "inputs[1]: expected an earlier node, 0 to 7, got a int"),
        (lambda d: d.update(version=10**5000), "version: this library reads version 1, the file has another"),
        (lambda d: d.update(more=1), "document: unknown entry 'more'"),
        (lambda d: d.pop("tree"), "document: 'tree' is missing"),
        (lambda d: d["tree"].update(nodes=[]), "tree.nodes: a tree needs at least one leaf"),
        (lambda d: d["tree"].update(nodes={}), "tree.nodes: expected a list, got a dict"),
        (lambda d: node(d, -1).update(andness=2.4), "tree.nodes[8]: andness must be in [-1, 2], got 2.4; use 2 for"),
        (
            lambda d: node(d, -1).update(andness=float("nan")),
            "tree.nodes[8].andness: expected a finite number, got nan",
        ),
        (lambda d: node(d, -1).update(weights=[0.5, 0.4]), "tree.nodes[8].weights: weights must sum to 1, got 0.9"),
        (
            lambda d: node(d, -1).update(weights=[1.5, -0.5]),
            "tree.nodes[8]: a weight must be a positive number, got -0.5",
        ),
        (lambda d: node(d, -1).update(weights=[0.5, "0.5"]), "tree.nodes[8].weights[1]: expected a finite number"),
        (lambda d: node(d, -1).update(weights=[0.2, 0.3, 0.5]), "tree.nodes[8]: 2 inputs need 2 weights, got 3"),
        (
            lambda d: node(d, -1).update(inputs=[0, 8]),
            "tree.nodes[8].inputs[1]: expected an earlier node, 0 to 7, got 8",
        ),
        (lambda d: node(d, -1).update(inputs=[0, -1]), "tree.nodes[8].inputs[1]: expected an earlier node"),
        (lambda d: node(d, -1).update(inputs=[0, 0]), "tree.nodes[8].inputs[1]: node 0 is the input of two nodes"),
        (lambda d: node(d, -1).update(gate="mean"), "tree.nodes[8]: unknown aggregator 'mean'"),
        (lambda d: d["tree"]["nodes"].pop(), "tree.nodes[0]: no later node has this one as an input"),
        (lambda d: node(d, 0).update(leaf=7), "tree.nodes[0].leaf: expected text, got 7"),
        (lambda d: node(d, 0).update(kind="x"), "tree.nodes[0]: unknown entry 'kind'"),
        (lambda d: node(d, 0).clear(), "tree.nodes[0]: expected a leaf, a gate or a not"),
        (
            lambda d: node(d, 1)["criterion"].update(kind="spline"),
            "tree.nodes[1].criterion.kind: expected one of given,",
        ),
        (
            lambda d: node(d, 1)["criterion"].update(missing=7),
            "tree.nodes[1].criterion: the truth for missing values must",
        ),
        (
            lambda d: node(d, 1)["criterion"].update(points=[[1, 0]]),
            "tree.nodes[1].criterion: a ramp needs two or more",
        ),
        (
            lambda d: node(d, 1)["criterion"].update(points=[[1]]),
            "tree.nodes[1].criterion.points[0]: expected two entries",
        ),
        (
            lambda d: d["tree"].update(nodes=[{"leaf": "a", "criterion": {"kind": "given"}}] * 100_001),
            "at most 100000 nodes",
        ),
    ],
)
def test_problems_are_named_with_their_place(change, message):
    document = TREE.to_dict()
    change(document)
    with pytest.raises(ModelFormatError) as caught:
        Tree.from_dict(document)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def node(document, position):
    return document["tree"]["nodes"][position]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON, or cut short"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"format": 1, "format": 2}', "the entry 'format' appears twice"),
        (b'{"format": NaN}', "NaN is not a number that JSON allows"),
        (b'{"version": ' + b"9" * 10_000 + b"}", "not JSON, or cut short"),
        (b"[]", "document: expected an object, got a list"),
        (b"null", "document: expected an object, got None"),
    ],
)
def test_files_that_are_not_models(tmp_path, content, message):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        load(path)


def test_a_document_that_contains_itself_is_refused():
    document = TREE.to_dict()
    document["tree"]["nodes"][0]["criterion"] = document
    with pytest.raises(ModelFormatError, match=r"tree.nodes\[0\].criterion"):
        Tree.from_dict(document)


def test_giant_files_and_folders_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    with pytest.raises(ModelFormatError, match="larger than 64 MiB"):
        load(path)
    with pytest.raises(ModelFormatError, match="expected a file, got a folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.json")


def test_a_failed_save_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    TREE.save(path)

    def fail(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        Tree("a").save(path)
    assert load(path) == TREE
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_save_keeps_links_and_permissions(tmp_path):
    path, link = tmp_path / "model.json", tmp_path / "link.json"
    TREE.save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    Tree("a").save(link)
    assert link.is_symlink()
    assert load(path) == Tree("a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


SAVE_AND_STOP = """
import os, pathlib, sys, time
from baconlogic import Gate, Tree
old, new = (Tree(Gate([f"{name}{i}" for i in range(4000)], 0.5)) for name in ("old", "new"))
old.save(sys.argv[1])
def stop(*_):
    print("here", flush=True)
    time.sleep(600)
holder, name = {"fsync": (os, "fsync"), "replace": (pathlib.Path, "replace"), "folder": (os, "open")}[sys.argv[2]]
setattr(holder, name, stop)
new.save(sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize(
    ("step", "first", "drafts"), [("fsync", "old0", 1), ("replace", "old0", 1), ("folder", "new0", 0)]
)
def test_kill_in_the_middle_of_save_loses_nothing(tmp_path, step, first, drafts):
    """Whatever step a save has come to when it is killed, the path holds a whole file: the old one or the new one."""
    path = tmp_path / "model.json"
    writer = subprocess.Popen([sys.executable, "-c", SAVE_AND_STOP, str(path), step], stdout=subprocess.PIPE)
    assert writer.stdout.readline() == b"here\n"
    writer.kill()
    writer.communicate()
    assert len(list(tmp_path.glob(".*.tmp"))) == drafts
    assert load(path).features[0] == first
    assert len(load(path).features) == 4000
