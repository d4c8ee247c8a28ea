"""Reports: what they say is what the library says; what is not known is left out, with why."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from baconlogic import BaconClassifier, Decision, Gate, Leaf, Tree, explain, load
from baconlogic.cli._evaluate import scores
from baconlogic.core.criteria import Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.explain._alternatives import Alternative
from baconlogic.report import _content as content
from baconlogic.report import _live as live
from baconlogic.report import report
from baconlogic.report._cases import places
from baconlogic.report._figures import Share
from baconlogic.report._material import materials

HOSTILE = [
    "quote \" ' `", "line\nbreak\r\u2028", "*/ end", "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "'; DROP TABLE data; --", "\U0001f600 emoji", "class", "__proto__", "constructor",
    "{{ 7*7 }} {% raw %}", "| a | $b$ |", "&amp; &lt;b&gt;", "<!-- a", "]]>", "\u202e left",
]  # fmt: skip
TREE = Tree.parse("HC(a[half at 1, slope 2]: 0.6, HD(b[0 at 0, 1 at 4], not c[half at 0, slope 1, missing 0.5]): 0.4)")


def decision(tree=TREE, classes=("well", "ill"), **more):
    features = tuple(Feature(name, "number") for name in [*tree.features, "unused"])
    return Decision((tree,), (Link(9.0, 0.4),), classes, features, more.pop("provenance", {}), **more)


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = {"a": rng.normal(1, 1, n), "b": rng.uniform(0, 4, n), "c": rng.normal(0, 1, n), "unused": rng.normal(size=n)}
    X["c"][::9] = np.nan
    return X


def labels(model, X, seed=0):
    chance = model.predict_proba(X)[:, 1]
    return np.array(model.classes)[(np.random.default_rng(seed).random(len(chance)) < chance).astype(int)]


class Page(HTMLParser):
    """The text, the tags and the scripts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.raw, self._inside = [], [], [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = (tag, dict(attrs).get("type", "")) if tag in ("script", "style") else self._inside

    def handle_endtag(self, tag):
        self._inside = "" if tag in ("script", "style") else self._inside

    def handle_data(self, data):
        if self._inside:
            self.raw[self._inside] = self.raw.get(self._inside, "") + data
        else:
            self.text.append(data)

    @property
    def data(self):
        return json.loads(self.raw["script", "application/json"])

    @property
    def said(self):
        return " ".join(" ".join(self.text).split())


def page(tmp_path, model, X, y=None, **more):
    return Page(report(model, X, y, path=tmp_path / "page.html", **more).read_text(encoding="utf-8"))


def markdown(tmp_path, model, X, y=None, **more):
    return report(model, X, y, path=tmp_path / "page.md", **more).read_text(encoding="utf-8")


SECTIONS = [
    "The tree", "The criteria", "Features: roles and ranking", "How well it does",
    "The threshold",
    "Are its probabilities right?", "With fewer leaves", "Telling cases", "Other trees", "What the model cannot tell",
    "How to reproduce this",
]  # fmt: skip


def test_page_and_markdown_have_every_section(tmp_path):
    model, X = decision(), rows()
    y = labels(model, X)
    html, text = page(tmp_path, model, X, y), markdown(tmp_path, model, X, y)
    for section in SECTIONS:
        assert section in html.said
        assert f"## {section}" in text
    assert html.tags.count("svg") >= 6
    assert model.tree.formula() in html.said
    assert " ".join(str(explain.describe(model)).split()) in html.said
    assert str(explain.describe(model)) in text


def test_figures_are_what_numpy_and_sklearn_count(tmp_path):
    model, X = decision(), rows(500)
    y = labels(model, X)
    said = model.predict(X)
    html = page(tmp_path, model, X, y)
    right, found = int((said == y).sum()), int(((said == "ill") & (y == "ill")).sum())
    assert f"{100 * right / 500:.1f}% {right} of 500" in re.sub(r" [\d.]+% to [\d.]+%", "", html.said)
    assert f"{found} of {(y == 'ill').sum()}" in html.said
    assert f"{roc_auc_score(y == 'ill', model.truth(X)):.3f}" in html.said


def test_a_page_and_the_command_line_tell_the_same_interval(tmp_path):
    model, X = decision(), rows(60)
    y = labels(model, X)
    told = scores(model, X, y).accuracy
    assert f"95% interval {100 * told.low:.1f}% to {100 * told.high:.1f}%" in page(tmp_path, model, X, y).said
    assert Share(0, 0).said == Share(0, 0).interval == "-"


def test_counts_at_each_threshold_are_those_of_evaluate():
    model, X = decision(), rows(300)
    y = labels(model, X)
    (m,) = materials(model, X, y, None)
    kept = live.marks(m, 1)
    truths, hits, alarms = (
        np.frombuffer(base64.b64decode(kept[name]), kind)
        for name, kind in (("truths", "<f8"), ("hits", "<u4"), ("alarms", "<u4"))
    )
    assert kept["exact"]
    for i in range(0, len(truths), 17):
        above = model.truth(X) > truths[i]
        assert hits[i] == (above & (y == "ill")).sum()
        assert alarms[i] == (above & (y == "well")).sum()


def test_without_labels_nothing_is_counted(tmp_path):
    html = page(tmp_path, decision(), rows())
    assert html.said.count("No labels y were given") == 4
    assert "Accuracy" not in html.said
    assert "Surest ill row" in html.said
    assert html.data["marks"] == [None]


def test_a_tree_alone_has_no_probability_and_no_provenance(tmp_path):
    X = rows()
    y = TREE.evaluate(X) > 0.4
    html = page(tmp_path, TREE, X, y)
    assert "not probabilities" in html.said
    assert "does not say how it did on rows held out" in html.said
    assert "a tree alone has none" in html.said
    assert "probability of" not in html.said
    assert "Accuracy" in html.said


def test_in_sample_figures_are_never_called_held_out(tmp_path):
    X = rows()
    model = decision(provenance={"cases": 200.0, "trees": [{"held_out_accuracy": 0.75}]})
    said = page(tmp_path, model, X, labels(model, X)).said
    assert "in sample and flatter" in said
    assert "accuracy of 75.0% on rows held out" in said
    model = decision(provenance={"cases": 90.0, "trees": [{"edited": True}]})
    said = page(tmp_path, model, X, labels(model, X)).said
    assert "edited after fit" in said
    assert "Fit learned from 90 cases" in said


def test_a_classifier_tells_its_held_out_rows_path_and_settings(tmp_path):
    X = rows(150)
    y = labels(decision(), X)
    table = np.column_stack([np.nan_to_num(X[name]) for name in X])
    clf = BaconClassifier(max_leaves=2, search="growth", random_state=3).fit(table, y)
    html = page(tmp_path, clf, table, y)
    assert "each was scored by a tree that had not seen it" in html.said
    assert "Each threshold was chosen on the rows that fit held out" in html.said
    assert "Trees of other forms and sizes that fit found" in html.said
    assert "BaconClassifier(max_leaves=2, random_state=3, search='growth').fit(X_train, y_train)" in html.said


def test_alternatives_that_are_given_are_shown(tmp_path):
    model, X = decision(), rows(40)
    rows_ = tuple(Alternative(t.features, 1, 0.9, 0.3, 0.5, t) for t in (TREE, Tree.parse("zzz")))
    given = explain.Alternatives(rows_, 2, 0.01, ((1.0, 0.9), (0.9, 1.0)), (("a", 1),))
    said = page(tmp_path, model, X, labels(model, X), alternatives=given).said
    assert "Trees on other features that do about as well" in said
    assert "zzz" in said


def test_several_classes_are_told_in_turn_or_one_by_label(tmp_path):
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=90), "b": rng.normal(size=90)}
    trees = tuple(Tree.parse(text) for text in ("a[half at 0, slope 2]", "b[half at 0, slope 2]", "HC(not a[half at 0, slope 2], not b[half at 0, slope 2])"))  # fmt: skip  # noqa: E501
    model = Decision(trees, (Link(5, 0.5),) * 3, ("x", "y", "z"), (Feature("a", "number"), Feature("b", "number")))
    y = model.predict(X)
    y[:9] = "z"
    html = page(tmp_path, model, X, y)
    right = int((model.predict(X) == y).sum())
    assert f"({right} of 90;" in html.said
    assert [f"{label}, rather than not" in html.said for label in "xyz"] == [True] * 3
    assert len(html.data["marks"]) == 3
    one = page(tmp_path, model, X, y, label="y")
    assert "x, rather than not" not in one.said
    assert len(one.data["marks"]) == 1


def test_telling_cases_are_surest_least_sure_and_wrong():
    model, X = decision(), rows(300)
    y = labels(model, X)
    (m,) = materials(model, X, y, None)
    truth, said = model.truth(X), model.predict(X)
    found = dict(places(m))
    wrong = said != y
    assert found["Least sure"] == np.argmin(abs(truth - model.threshold))
    assert truth[found["Surest ill, and right"]] == truth[(said == "ill") & ~wrong].max()
    assert truth[found["Wrong: surest ill that is not"]] == truth[(said == "ill") & wrong].max()
    assert truth[found["Wrong: ill, missed by most"]] == truth[(said == "well") & wrong].min()


@pytest.mark.parametrize("n", [1, 2, 12])
@pytest.mark.parametrize("known", [False, True])
def test_few_rows_are_enough(tmp_path, n, known):
    model, X = decision(), rows(n)
    y = labels(model, X) if known else None
    assert "Telling cases" in page(tmp_path, model, X, y).said
    assert "## Telling cases" in markdown(tmp_path, model, X, y)


@pytest.mark.parametrize("turns_at", [-1.0, 0.0, 1.0, 2.0])
def test_thresholds_that_no_truth_crosses_are_told(tmp_path, turns_at):
    model, X = decision(turns_at=turns_at), rows(60)
    y = labels(decision(), X)
    html = page(tmp_path, model, X, y)
    yes = int((model.predict(X) == "ill").sum())
    assert yes in ((60,) if turns_at < 0 else (0,) if turns_at >= 1 else range(61))
    assert "The threshold" in html.said


def test_the_hash_is_that_of_the_saved_file(tmp_path):
    model, X = decision(), rows(20)
    model.save(tmp_path / "model.json")
    digest = hashlib.sha256((tmp_path / "model.json").read_bytes()).hexdigest()
    assert digest in page(tmp_path, model, X).said
    assert digest in page(tmp_path, load(tmp_path / "model.json"), X).said


def test_the_same_model_and_rows_give_the_same_page(tmp_path):
    model, X = decision(), rows(50)
    y = labels(model, X)
    first, second = (report(model, X, y, path=tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second


def test_other_suffixes_and_folders_are_refused_and_the_old_file_stays(tmp_path):
    model, X = decision(), rows(5)
    with pytest.raises(ValueError, match=r"must end in \.html or \.md"):
        report(model, X, path=tmp_path / "page.pdf")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        report(model, X, path=tmp_path / "nowhere" / "page.html")
    (tmp_path / "page.html").write_text("old")
    with pytest.raises(ValueError, match="expected"):
        report(model, X, ["?"] * 5, path=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def hostile_model():
    leaves = [Leaf(name, Sigmoid(0, 1, 0.5, f"u{name}"), f"n{name}") for name in HOSTILE]
    kinds = Leaf("kind", Table({name: i / 20 for i, name in enumerate(HOSTILE)}, other=0.5), HOSTILE[4])
    tree = Tree(Gate([*leaves, kinds], 0.6, name=HOSTILE[3]))
    features = tuple(Feature(name, "category" if name == "kind" else "number") for name in tree.features)
    return Decision((tree,), (Link(4, 0.5),), (HOSTILE[3], HOSTILE[4]), features, {"threshold": HOSTILE[3]})


def hostile_rows(model, n=60):
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=n) for name in HOSTILE}
    X["kind"] = [HOSTILE[i % len(HOSTILE)] for i in range(n)]
    return X, np.array(model.classes)[rng.integers(0, 2, n)]


def test_hostile_names_are_text_in_the_page(tmp_path):
    model = hostile_model()
    html = page(tmp_path, model, *hostile_rows(model), title=HOSTILE[3], context=HOSTILE[4])
    plain = page(tmp_path, decision(), rows(60), labels(decision(), rows(60)))
    assert set(html.tags) <= set(plain.tags) | {"b", "em"}
    assert "img" not in html.tags
    assert html.tags.count("script") == 2
    assert not [name for name, _ in html.attributes if name.startswith("on")]
    assert {each["name"] for each in html.data["inputs"]} == {*HOSTILE, "kind"}
    assert HOSTILE[3] in html.said


def test_hostile_names_are_text_in_markdown(tmp_path):
    model = hostile_model()
    text = markdown(tmp_path, model, *hostile_rows(model), title=HOSTILE[3], context=HOSTILE[4])
    outside = re.sub(r"(?ms)^(`{3,})text\n.*?\n\1$", "", text)
    assert "```text" in text
    assert "<" not in outside
    assert "`" not in outside.replace("`Tree.parse(...)`", "").replace("\\`", "")
    tables = [line for line in outside.split("\n") if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in tables]
    starts = [i for i, line in enumerate(tables) if set(line) <= set("|- ")]
    assert all(widths[i] == widths[i - 1] == widths[i + 1] for i in starts)


def test_script_and_style_are_those_that_the_policy_allows(tmp_path):
    model = hostile_model()
    html = page(tmp_path, model, *hostile_rows(model))
    policy = next(value for name, value in html.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'")
    for key in (("style", ""), ("script", "module")):
        digest = base64.b64encode(hashlib.sha256(html.raw[key].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r"https?://(?!www\.w3\.org)", " ".join(str(value) for _, value in html.attributes))


def test_ten_thousand_rows_stay_under_a_megabyte_and_exact(tmp_path):
    model, X = decision(), rows(10_000)
    path = report(model, X, labels(model, X), path=tmp_path / "page.html")
    assert path.stat().st_size < 1_000_000
    assert Page(path.read_text(encoding="utf-8")).data["marks"][0]["exact"]


def test_more_rows_are_sampled_and_it_is_said(tmp_path):
    model, X = decision(), rows(60_000)
    path = report(model, X, labels(model, X), path=tmp_path / "page.html")
    html = Page(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 1_000_000
    assert not html.data["marks"][0]["exact"]
    assert "Counted on 20000 of the 60000 rows" in html.said


def test_a_deep_chain_is_told_without_pictures(tmp_path):
    text = "x0"
    for i in range(1, 250):
        text = f"HC({text}, x{i})"
    tree = Tree.parse(text)
    X = {name: np.random.default_rng(0).random(30) for name in tree.features}
    path = report(tree, X, np.arange(30) % 2 == 0, path=tmp_path / "page.html")
    html = Page(path.read_text(encoding="utf-8"))
    assert "too large for a picture" in html.said
    assert "too many to move here" in html.said
    assert path.stat().st_size < 1_000_000


def test_what_is_said_to_be_seen_was_seen(tmp_path):
    X = rows()
    X["a"][:] = 7.25  # the slider still covers where the criterion changes
    X["b"] = np.linspace(0.123, 3.987, 200)
    seen = {each.name: each.seen for each in live.inputs(materials(TREE, X, None, None)[0].rows)}
    assert (seen["a"], seen["b"]) == ("7.25", "0.123 to 3.987")
    assert "seen: 7.25 " in page(tmp_path, TREE, X).said
    X["c"][:] = np.nan
    assert "seen: none" in page(tmp_path, TREE, X).said


def test_a_threshold_of_a_scenario_has_the_decimals_that_its_shares_need(tmp_path):
    truths = np.array([0.5001, 0.5002, 0.5003, 0.5004])
    m = materials(Tree(Leaf("a")), {"a": truths}, np.array([False, True, False, True]), None)[0]
    assert content._enough(m, 0.50025) == "0.5002"
    assert content._enough(m, 0.7) == "0.700"
    model, X = decision(), rows()
    y = labels(model, X)
    for row in content.chapter(materials(model, X, y, None)[0], 0, None)["turning"]["scenarios"]:
        called = model.trees[0].evaluate(X) > float(row["threshold"])
        assert row["accuracy"].k == (called == (y == "ill")).sum()


def test_a_column_with_missing_values_can_go_together_with_one_in_use(tmp_path):
    X = rows()
    X["twin"] = np.where(np.arange(200) % 5 == 0, np.nan, 3.0 * X["a"] + 0.1 * X["b"])
    X["flat"], X["huge"] = np.full(200, 0.1), np.where(np.arange(200) == 0, 1e300, X["unused"])
    both = ~np.isnan(X["twin"])
    wanted = np.corrcoef(X["a"][both], X["twin"][both])[0, 1]
    said = page(tmp_path, TREE, X).said
    assert f"a and twin (correlation {wanted:.2f})" in said
    assert "flat (" not in said
    assert "huge (" not in said


def test_a_page_spells_out_letters_that_would_turn_or_break_its_text(tmp_path):
    names = ["\u202e left", "line\nbreak"]
    tree = Tree(Gate(tuple(Leaf(name) for name in names), 0.8, name="a\u202eb"))
    text = report(tree, {name: [0.2, 0.9] for name in names}, [False, True], tmp_path / "a.html").read_text("utf-8")
    assert "\u202e" not in text.split('<script type="application/json"')[0]
    assert '<th scope="row">line\\nbreak</th>' in text


def test_calibration_is_not_called_off_by_more_than_chance(tmp_path):
    model, X = decision(), rows()
    said = markdown(tmp_path, model, X, labels(model, X))
    assert "chance allows" not in said
    assert "95% interval of the share seen" in said


def test_one_row_is_one_row(tmp_path):
    X = {name: column[:1] for name, column in rows().items()}
    said = page(tmp_path, TREE, X, [True]).said
    assert "1 rows" not in said
    assert "on the 1 row given" in said


def test_alternatives_of_one_class_are_not_told_of_all(tmp_path):
    tree = Tree.parse("a[half at 1, slope 2]")
    features, link = (Feature("a", "number"),), Link(9.0, 0.5)
    model, X = Decision((tree,) * 3, (link,) * 3, ("x", "y", "z"), features, {}), {"a": [0.0, 1.0, 2.0]}
    given = explain.Alternatives((), 3, 0.01, (), ())
    with pytest.raises(ValueError, match="give label= as well"):
        report(model, X, None, tmp_path / "a.html", alternatives=given)
