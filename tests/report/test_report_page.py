"""The page in a browser: it opens from disk, asks for nothing, and what moves in it is what the library says."""

import shutil

import numpy as np
import pandas as pd
import pytest
from test_report import HOSTILE, decision, hostile_model, hostile_rows, labels, rows

from baconlogic import Decision, Tree, explain
from baconlogic.core.decision import Feature, Link
from baconlogic.report import report

OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-quic",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=OPTIONS)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report and see that it makes no noise: no console error, no dialog, no request but for itself."""
    troubles, pages = [], []

    def visit(model, X, y=None, *, width=1280, javascript=True, **more):
        path = report(model, X, y, path=tmp_path / "page.html", **more)
        page = browser.new_page(viewport={"width": width, "height": 800}, java_script_enabled=javascript)
        page.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda problem: troubles.append(str(problem)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda asked: troubles.append(asked.url) if asked.url != path.as_uri() else None)
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert troubles == []


def put(page, selector, value):
    """Move an input as a hand does."""
    page.locator(selector).evaluate(
        "(each, value) => { each.value = value; each.dispatchEvent(new Event('input', {bubbles: true}));"
        " each.dispatchEvent(new Event('change', {bubbles: true})); }",
        str(value),
    )


def figure(page, name):
    return float(page.locator(f'[data-figure="{name}"]').get_attribute("data-value"))


def expect_case(page, model, row):
    """Compare what the page says of its case with what the library does."""
    answer = page.locator("#answer")
    assert float(answer.get_attribute("data-truth")) == pytest.approx(model.truth(row)[0], abs=1e-12)
    chances = [float(each) for each in answer.get_attribute("data-probability").split()]
    assert chances == pytest.approx(model.predict_proba(row)[0].tolist(), abs=1e-12)
    assert answer.inner_text() == f"The answer is {model.predict(row)[0]}."
    shown = {
        tuple(int(i) for i in path.split(".") if i): float(truth)
        for path, truth in page.locator("g[data-path]").evaluate_all(
            "all => all.map(g => [g.dataset.path, g.dataset.truth])"
        )
    }
    said = model.tree.evaluate(row, nodes=True)
    assert () in shown
    assert len(shown) >= 5
    for path, truth in shown.items():
        assert truth == pytest.approx(said[path][0], abs=1e-12)


def test_moving_inputs_shows_what_the_decision_says(opened):
    model, X = decision(), rows()
    page = opened(model, X, labels(model, X))
    names = list(model.tree.features)
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    assert [each["name"] for each in data["inputs"]] == names
    for start, case in enumerate(data["cases"]):
        page.select_option("#start", str(start))
        row = {name: [np.nan if value is None else value] for name, value in zip(names, case["values"], strict=True)}
        expect_case(page, model, row)
    answers = set()
    for value in (-3, -1, 0.5, 1.5, 2.5, 4):
        put(page, f"#input-{names.index('a')}", value)
        row["a"] = [float(page.locator(f"[data-input='{names.index('a')}'] .exact").input_value())]
        expect_case(page, model, row)
        answers.add(page.locator("#answer").inner_text())
    assert len(answers) == 2
    page.locator(f"[data-input='{names.index('c')}'] .missing").check()
    row["c"] = [np.nan]
    expect_case(page, model, row)
    assert page.locator("#notice").inner_text() == ""
    put(page, f"[data-input='{names.index('a')}'] .exact", 99)
    row["a"] = [99.0]
    expect_case(page, model, row)
    assert "outside what the rows given hold" in page.locator("#notice").inner_text()
    put(page, f"[data-input='{names.index('b')}'] .exact", "")
    assert page.locator("#answer").inner_text() == "No answer."


def test_moving_the_threshold_shows_what_numpy_counts(opened):
    model, X = decision(), rows(1000)
    y = labels(model, X) == "ill"
    page = opened(model, X, labels(model, X))
    truths = model.truth(X)
    put(page, ".alarm", 2)
    put(page, ".miss", 5)
    at = [0, 0.2, 0.35, 0.5, 0.77, 1, *np.sort(truths)[[0, 400, -1]]]
    for threshold in [*at, np.nextafter(truths.max(), 0)]:
        put(page, ".threshold .exact", repr(float(threshold)))
        yes = truths > threshold
        counts = {
            "hits": (yes & y).sum(), "alarms": (yes & ~y).sum(), "misses": (~yes & y).sum(), "passes": (~yes & ~y).sum()
        }  # fmt: skip
        assert {name: figure(page, name) for name in counts} == counts
        assert figure(page, "accuracy") == np.mean(yes == y)
        assert figure(page, "recall") == np.mean(yes[y])
        assert figure(page, "specificity") == np.mean(~yes[~y])
        assert figure(page, "cost") == 2 * counts["alarms"] + 5 * counts["misses"]
        if yes.any():
            assert figure(page, "precision") == np.mean(y[yes])
        else:
            assert page.locator('[data-figure="precision"]').inner_text() == "-"
    put(page, ".threshold .slider", 0.6)
    assert figure(page, "hits") == ((truths > float(page.locator(".threshold .exact").input_value())) & y).sum()
    page.locator(".cheapest").click()
    cheapest = min(2 * ((truths > t) & ~y).sum() + 5 * ((truths <= t) & y).sum() for t in [-1, *truths])
    assert figure(page, "cost") == cheapest
    page.locator(".back").click()
    assert figure(page, "accuracy") == np.mean(model.predict(X) == labels(model, X))


def test_several_classes_move_together(opened):
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=90), "k": rng.choice(["u", "v"], 90)}
    trees = [
        Tree.parse(text) for text in ("a[half at 0, slope 2]", 'k[0.9 if "u", 0.1 if "v", other 0.3, missing 0.5]')
    ]
    trees.append(Tree.parse('HC(not a[half at 0, slope 2], k[0.2 if "u", 0.7 if "v", other 0.3, missing 0.1])'))
    features = (Feature("a", "number"), Feature("k", "category"))
    model = Decision(tuple(trees), (Link(5, 0.5),) * 3, (1, 2, 3), features)
    page = opened(model, X, model.predict(X))
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    place = [each["name"] for each in data["inputs"]].index("k")
    options = [*page.locator(f"#input-{place} option").all_inner_texts()]
    assert options == ["u", "v", "another value", "missing"]
    for text, value in (("u", "u"), ("v", "v"), ("another value", "w"), ("missing", None)):
        page.select_option(f"#input-{place}", label=text)
        for a in (-1.5, 0.1, 2):
            put(page, f"[data-input='{1 - place}'] .exact", a)
            row = {"a": [a], "k": [value]}
            answer = page.locator("#answer")
            said = [float(each) for each in answer.get_attribute("data-truth").split()]
            assert said == pytest.approx(model.truth(row)[0].tolist(), abs=1e-12)
            assert answer.inner_text() == f"The answer is {model.predict(row)[0]}."


def test_hostile_names_do_nothing_and_are_read_as_they_are(opened):
    model = hostile_model()
    X, y = hostile_rows(model)
    page = opened(model, X, y, title=HOSTILE[3], context=HOSTILE[4])
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == HOSTILE[3]
    assert HOSTILE[4] in page.locator(".context").inner_text()
    assert page.locator("#answer").inner_text() in [f"The answer is {label}." for label in model.classes]
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    names = [each["name"] for each in data["inputs"]]
    truths = set()
    for name in HOSTILE:
        put(page, f"[data-input='{names.index(name)}'] .exact", 5)
        truths.add(page.locator("#answer").get_attribute("data-truth"))
    assert len(truths) == len(HOSTILE)
    values = data["cases"][0]["values"]
    row = {name: [5.0 if name != "kind" else HOSTILE[values[i]]] for i, name in enumerate(names)}
    assert float(page.locator("#answer").get_attribute("data-truth")) == pytest.approx(model.truth(row)[0], abs=1e-12)
    assert page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


def test_it_reads_well_without_javascript(opened):
    model, X = decision(), rows()
    page = opened(model, X, labels(model, X), javascript=False)
    assert page.locator("#start").is_hidden()
    assert page.locator(".threshold .slider").is_hidden()
    assert page.locator(".confusion").is_visible()
    said = page.locator("body").inner_text()
    assert str(explain.describe(model)) in said
    assert "browser with JavaScript" in said


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways(opened, width):
    model = hostile_model()
    X, y = hostile_rows(model)
    for page in (opened(decision(), rows(), labels(decision(), rows()), width=width), opened(model, X, y, width=width)):
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_that_moves_can_be_named_and_reached(opened):
    page = opened(decision(), pd.DataFrame(rows()), labels(decision(), rows()))
    unnamed = page.locator("input, select").evaluate_all(
        "all => all.filter(each => !each.labels.length && !each.getAttribute('aria-label')).length"
    )
    assert unnamed == 0
    assert page.locator("svg:not([aria-label])").count() == 0
    page.locator("#input-0").focus()
    before = page.locator("#answer").get_attribute("data-truth")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    assert page.locator("#answer").get_attribute("data-truth") != before


def test_print_has_the_content_and_no_controls(opened):
    page = opened(decision(), rows(), labels(decision(), rows()))
    page.emulate_media(media="print")
    assert page.locator("#explore").is_hidden()
    assert page.locator(".threshold .slider").is_hidden()
    assert page.locator(".confusion").is_visible()


def test_the_cheapest_threshold_is_one_that_can_be_had(opened):
    X, y = {"a": [0.0, 0.0, 0.0, 0.2, 0.9]}, [True, True, True, False, False]
    page = opened(Tree.parse("a"), X, y)  # no threshold from 0 on calls a truth of 0 yes
    page.locator(".cheapest").click()
    assert page.locator('[data-figure="cost"]').inner_text() == "3"
