"""The paper's experiments: what they find, how rows are held out, and what a line says of itself."""

import contextlib
import json
import math
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from baconlogic import BaconClassifier, Leaf, Tree, datasets
from experiments import EXPERIMENTS, QUICK, __main__, boolean, houses, iris, validation
from experiments.result import Experiment, Interval, Line, Part, duration, share, table, tally

REALTOR = Path(__file__).parents[3] / "shared" / "data" / "realtor-13k.csv"


# Lines and tables


@pytest.mark.parametrize(
    ("ours", "paper", "less", "verdict"),
    [
        (0.98071, 0.9807, False, "meets the paper"),
        (0.98065, 0.9807, False, "meets the paper"),
        (0.98076, 0.9807, False, "beats the paper"),
        (0.98064, 0.9807, False, "misses the paper"),
        (0.1, 0.2, True, "beats the paper"),
        (0.3, 0.2, True, "misses the paper"),
        (0.99996, 1.0, False, "misses the paper"),
        (1.0, None, False, "the paper has no figure"),
    ],
)
def test_a_line_says_by_itself_how_it_does(ours, paper, less, verdict):
    line = Line("accuracy", paper, ours, "in sample", less_is_better=less)
    assert line.verdict == line.to_dict()["verdict"] == verdict


def test_verdicts_are_counted():
    lines = [Line("a", 0.5, ours, "in sample") for ours in (0.6, 0.7, 0.5, 0.4)]
    assert tally(lines) == "4 lines: 2 beat, 1 meets, 1 misses the paper"
    assert tally([*lines, Line("b", None, 1.0, "in sample")]).endswith("misses the paper; of 1 the paper has no figure")


def test_the_table_fits_a_terminal_and_loses_no_word():
    held = Interval(0.99999, 0.9, 1.0, 10)
    line = Line(
        "a long name of what was measured here", 0.9431, 0.99999, "29 of 30 rows held out", held, 754.0, "so " * 60
    )
    shown = table([line, Line("another", 454.5, 1.5, "half-true point", digits=1, less_is_better=True, unit="sq ft")])
    assert max(map(len, shown.splitlines())) <= 120
    assert {*line.what.split(), "99.99%", "94.31%", "12.6", "(29", "beats"} <= set(shown.split())
    assert shown.count("so ") + shown.count("so\n") >= 59


def test_what_is_not_quite_all_is_not_rounded_to_it():
    assert share(0.99999, 2) == "99.99%"
    assert str(Interval(0.971, 0.96, 0.982, 50)) == "97.1% (95% CI 96.0 to 98.2%, 50 fits)"
    assert [duration(each) for each in (0.001, 0.35, 12.04, 754.0, math.nan)] == [
        "<0.01 s", "0.35 s", "12.0 s", "12.6 min", "-",
    ]  # fmt: skip


# Rows held out


def test_the_interval_is_that_of_nadeau_and_bengio():
    scores = [0.9, 0.95, 1.0, 0.85, 0.9]
    mean, low, high = validation.corrected(scores, 0.2)
    reach = 2.7764451051977987 * math.sqrt((1 / 5 + 0.2 / 0.8) * np.var(scores, ddof=1))
    assert (mean, low, high) == pytest.approx((0.92, 0.92 - reach, 0.92 + reach))
    assert validation.interval(scores, 0.2) == Interval(mean, low, 1.0, 5)
    with pytest.raises(ValueError, match="two or more scores"):
        validation.corrected([0.9], 0.2)


def test_held_out_rows_are_not_seen_and_the_folds_are_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    deep = partial(DecisionTreeClassifier, random_state=0)
    assert validation.in_sample(deep, X, y).accuracy == 1.0
    found = validation.held_out(deep, X, y, n_jobs=1)
    assert found.mean < 0.65  # labels are noise: what was seen would be right
    assert found == validation.held_out(deep, pl.DataFrame(X), y, n_jobs=1)
    assert validation.held_out(lambda: DummyClassifier(strategy="constant", constant=1), X, y, n_jobs=1).mean == (
        pytest.approx(y.mean(), abs=0.01)
    )


# Boolean


def test_a_tree_is_read_as_and_or():
    expression = datasets.appendix_b()
    truth_table = datasets.boolean(expression)
    text, truth = boolean.read(Tree.parse(expression.formula()), truth_table)
    assert text == "((A or B or C) and D and E and F) or G or H"
    assert (truth == truth_table.y).all()
    text, truth = boolean.read(Tree.parse("HC(not HD(A, B), C)"), datasets.boolean(datasets.chain(["or", "and"])))
    assert text == "not (A or B) and C"
    assert truth.tolist() == [False, True] + [False] * 6


def test_operators_of_a_task_are_of_its_kind():
    for kind, ands in zip(boolean.KINDS, (7, 5, None, 2, 0), strict=True):
        found = boolean.expression(boolean.Task(8, boolean.EXACT, 3, kind))
        assert ands is None or found.operators.count("and") == ands
        assert len(found.names) == 8


def test_the_expression_of_appendix_b_is_found_by_both_searches(monkeypatch):
    monkeypatch.setattr(boolean, "judged", lambda *_: np.array([0.9, 1.0]))  # it has a test of its own
    found = boolean.run(n_jobs=1, largest=4, seeds=1, limit=30.0)
    assert [each.right for each in found.recoveries] == [1.0, 1.0]
    assert found.recoveries[0].equivalent
    assert [line.verdict for line in found.lines[:2]] == ["meets the paper"] * 2
    assert {cell.variables for cell in found.cells if cell.search == boolean.EXACT} == {3, 4, 8, 12}
    assert all(cell.recovered == cell.tried == 1 for cell in found.cells)
    assert found.long.accuracy > 0.99
    said = str(found)
    assert "((C or B or A) and F and E and D) or H or G" in said
    assert "all and 1 of 1" in said
    assert max(map(len, said.splitlines())) <= 120


def test_a_part_of_the_truth_table_is_judged_on_the_clean_rest(monkeypatch):
    monkeypatch.setattr(boolean, "classifier", lambda *_: BaconClassifier("peel", random_state=0))  # a quick one
    expression = datasets.chain(["or", "and", "or", "and"])
    clean, noisy = (boolean.judged(boolean.EXACT, expression, noise, 2, 1.0, 1) for noise in (0.0, 1.0))
    assert clean.min() > 0.5 > noisy.max()  # with every label flipped it learns the opposite


def test_the_sizes_that_were_tried_are_the_sizes_said():
    def said(*sizes):
        cells = [boolean.Cell(n, boolean.EXACT, boolean.MIXED, 1, 1, 1.0, 1.0, ()) for n in sizes]
        return boolean.sizes(cells)

    assert [said(3, 4, 5), said(9, 10, 12), said(9, 10), said(12)] == ["3 to 5", "9, 10 and 12", "9 and 10", "12"]
    twelve = [task for task in boolean.tasks(12, 2, 1.0) if task.variables == 12]
    assert len(twelve) == len(set(twelve))


def test_fewer_attempts_by_rank_are_easier_though_one_took_long():
    attempts = {boolean.MOSTLY_AND: (1, 1, 1, 2, 2, 2, 2, 500), boolean.MOSTLY_OR: (9,) * 8}
    cells = [boolean.Cell(8, boolean.CHAIN, k, 8, 8, 1.0, 1.0, each) for k, each in attempts.items()]
    assert "So mostly and is easier" in boolean._verdict(cells)


@pytest.mark.slow
def test_the_whole_boolean_experiment(tmp_path):
    found = boolean.run(folder=tmp_path)
    assert all(each.right == 1.0 and each.equivalent for each in found.recoveries)
    small = [cell for cell in found.cells if cell.variables <= 7]
    assert all(cell.recovered == cell.tried for cell in small)
    assert all(Path(path).stat().st_size > 5000 for path in found.pictures)


# Iris


@pytest.fixture(scope="module")
def flowers():
    """Everything learned from all flowers; the splits have a test of their own, and the slow test has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "held_out_scores", lambda *_, **__: np.array([29 / 30, 1.0]))
        return iris.run(repeats=1, attempts=10)


def test_setosa_needs_no_flipping(flowers):
    for way in (iris.DEFAULT, iris.CHAIN):
        found = flowers.of("setosa", way)
        assert found.in_sample == 1.0
        leaves = [node for _, node in found.tree.walk() if isinstance(node, Leaf) and node.feature == "petal_length"]
        assert [leaf.criterion.rising for leaf in leaves] == [False]
    assert "petal_length (the lower, the more)" in " ".join(str(flowers).split())


def test_iris_in_sample_beats_the_paper_by_its_own_search(flowers):
    verdicts = {line.what: line.verdict for line in flowers.lines}
    assert verdicts["setosa, the paper's search"] == verdicts["virginica, the paper's search"] == "beats the paper"


def test_a_split_with_29_of_30_right_meets_the_paper(flowers):  # the splits of these flowers are made up
    line = next(line for line in flowers.lines if line.what == "virginica, the default search, one split")
    assert (line.verdict, line.protocol) == ("meets the paper", "29 of 30 rows held out")


def test_only_where_the_size_is_chosen_a_line_says_so(flowers):
    lines = {way: iris._line(flowers.of("virginica", way), way, 0.9, "in sample") for way in (iris.DEFAULT, iris.CHAIN)}
    assert "the size of the tree is chosen" in lines[iris.DEFAULT].note
    assert not lines[iris.CHAIN].note


def test_a_chain_that_is_accepted_is_not_said_to_be_no_logic(flowers):
    found = [each for each in flowers.found if each.species == "versicolor"]
    for reached, said in ((0.94, "no apparent logic"), (0.95, "Here it accepts one")):
        told = iris._versicolor(found, {iris.CHAIN: reached}, 10)
        assert said in " ".join(told.split())


def test_versicolor_is_a_band_and_no_chain(flowers):
    for way in (iris.LARGE, iris.SMALL, iris.CHAIN):
        assert flowers.of("versicolor", way).in_sample < 0.9
    assert max(flowers.best_attempts.values()) < 0.95
    band = flowers.of("versicolor", iris.BAND)
    assert band.in_sample >= 0.95
    assert band.tree.features == ("petal_width",)
    assert "petal_width above 0.8 up to 1.7" in str(flowers)


def test_what_the_iris_experiment_prints_fits_a_terminal(flowers):
    assert max(map(len, str(flowers).splitlines())) <= 120


@pytest.mark.slow
def test_the_whole_iris_experiment(tmp_path):
    found = iris.run(folder=tmp_path)
    verdicts = {line.what: line.verdict for line in found.lines}
    assert verdicts["setosa, the paper's search"] == verdicts["virginica, the paper's search"] == "beats the paper"
    assert found.of("versicolor", iris.BAND).held_out.mean > 0.9
    assert max(found.best_attempts.values()) < 0.95
    assert "petal_width above 0.8 up to 1.7" in str(found)
    assert all(Path(path).stat().st_size > 5000 for path in found.pictures)


# Houses


def test_hidden_rules_of_houses_are_found_with_their_thresholds(monkeypatch):
    monkeypatch.setattr(validation, "held_out", lambda *_, **__: Interval(1.0, 1.0, 1.0, 5))
    found = houses.run(rows=8000)
    for case in found.cases:
        rule = dict(datasets.house_rule(case.case).thresholds)
        assert case.in_sample >= 0.999
        assert {each.feature for each in case.thresholds} == set(rule)
        assert all(each.exact and each.low <= each.half <= each.high for each in case.thresholds)
        assert set(case.left_out) == set(datasets.HOUSE_FEATURES) - set(rule)
        assert not case.noise_used
    assert {line.verdict for line in found.lines if "search" not in line.what} == {"beats the paper"}
    assert "4 and 5" in str(found)


def test_a_part_of_the_rule_that_the_tree_misses_is_said(monkeypatch):
    monkeypatch.setattr(validation, "held_out", lambda *_, **__: Interval(1.0, 1.0, 1.0, 5))
    monkeypatch.setattr(houses, "BaconClassifier", lambda *_, **__: BaconClassifier("peel", max_leaves=1))
    data = datasets.houses("A", rows=500)
    found = houses._solve("A", "made-up", data, 0, 1, 1)
    assert set(found.missed) | set(found.tree.features) >= set(dict(datasets.house_rule("A").thresholds))
    assert len(found.missed) >= 2
    assert f"Of the rule the tree misses {found.missed[0]}" in houses._noise(found)


def test_a_threshold_that_is_off_is_said_to_be():
    data = datasets.houses("A", rows=3000)
    tree = Tree.parse("C(bed[half at 4.5, slope 99], bath[half at 3.5, slope 99], house_size[half at 3454.5, slope 9])")
    clf = BaconClassifier("calibrate", init=tree).fit(validation.frame(data), data.y == 1)
    low, high = houses.turning(clf, data, "house_size")
    assert 3300 < low < 3454.5 < high < 3600
    assert not houses.Threshold("house_size", 3000.0, 3454.5, low, high, 3454.5).exact
    assert all(map(math.isnan, houses.turning(clf, data, "price")))  # it never decides


def test_a_feature_that_turns_the_decision_in_two_places_has_no_threshold():
    data = datasets.houses("B", rows=3000)
    tree = Tree.parse("D(C(bath[half at 3.5, slope 99], bed[half at 2.5, slope 99]), bed[half at 4.5, slope 99])")
    clf = BaconClassifier("calibrate", init=tree).fit(validation.frame(data), data.y == 1)
    assert all(map(math.isnan, houses.turning(clf, data, "bed")))
    assert houses.turning(clf, data, "bath") == (3.0, 4.0)


@pytest.mark.slow
@pytest.mark.skipif(not REALTOR.exists(), reason="the data is not here")
def test_real_houses(tmp_path):
    found = houses.run(path=REALTOR, folder=tmp_path)
    assert [case.source for case in found.cases] == ["made-up", "made-up", "real", "real"]
    assert all(case.in_sample >= 0.999 and not case.noise_used for case in found.cases)
    assert all(Path(path).stat().st_size > 5000 for path in found.pictures)


# The command


def done(name, ours):
    """An experiment that takes no time, and keeps what it was asked."""
    asked = {}

    def run_it(*, progress, **options):
        asked.update(options)
        progress("working")
        lines = (Line(f"{name} line", 0.9, ours, "in sample"),)
        return Experiment(name=name, title=name.title(), lines=lines, parts=(Part("Part", "words"),), seconds=1.0)

    return run_it, asked


@pytest.fixture
def stubs(monkeypatch):
    made = {name: done(name, 0.89 + 0.01 * i) for i, name in enumerate(EXPERIMENTS)}
    monkeypatch.setattr(__main__, "EXPERIMENTS", {name: each[0] for name, each in made.items()})
    return {name: each[1] for name, each in made.items()}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run a command line in a folder of its own; return its exit code, its answer, and what it says beside."""
    monkeypatch.chdir(tmp_path)

    def run_it(*arguments):
        try:
            code = __main__.main([*map(str, arguments)])
        except SystemExit as end:  # of the parser
            code = end.code
        return code, *capsys.readouterr()

    return run_it


@pytest.fixture
def refusal(run):
    """Return the one line that a command line says which goes wrong."""

    def refuse(*arguments, code=1):
        found, out, err = run(*arguments)
        assert (found, out, err.count("\n")) == (code, "", 1)
        assert err.startswith("experiments: ")
        return err

    return refuse


def test_all_experiments_end_with_one_table_and_a_count(run, stubs):
    code, said, beside = run("all", "--seed", 7, "--jobs", 1, "--quick")
    assert code == 0
    assert said.index("Boolean\n=") < said.index("Iris\n=") < said.index("== All experiments ==")
    assert said.count("iris line") == 2
    assert said.endswith("4 lines: 2 beat, 1 meets, 1 misses the paper; all of it took 4.0 s.\n")
    assert beside.count("working") == 4
    assert stubs["iris"] == {"seed": 7, "n_jobs": 1, "folder": None, **QUICK["iris"]}
    assert stubs["houses"]["path"] is None
    assert set(QUICK) <= set(EXPERIMENTS)


def test_experiments_as_json(run, stubs):
    assert json.loads(run("iris", "--json")[1])["lines"][0]["verdict"] == "meets the paper"
    both = json.loads(run("all", "--json")[1])
    assert [each["name"] for each in both["experiments"]] == list(EXPERIMENTS)
    assert both["tally"].startswith("4 lines")


def test_what_cannot_work_is_refused_before_the_work(tmp_path, refusal, stubs):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "'gardens'" in refusal("gardens", code=2)
    assert "which" in refusal(code=2)
    assert "goes with the experiments houses and all" in refusal("iris", "--houses", "file", code=2)
    assert "none.csv: No such file" in refusal("all", "--houses", "none.csv")
    assert "file: File exists" in refusal("iris", "-o", "file")
    assert "file/below: Not a directory" in refusal("iris", "-o", "file/below")
    assert "must not be 0" in refusal("iris", "--jobs", 0, code=2)
    assert "must be from 0" in refusal("iris", "--seed", -1, code=2)
    assert "lacks the column" in refusal("all", "--houses", "file")
    (tmp_path / "empty.csv").write_text(f"{','.join(datasets.HOUSE_FEATURES)}\n,,,,,\n", encoding="utf-8")
    assert "no row knows" in refusal("houses", "--houses", "empty.csv")
    assert not any(stubs.values())


@pytest.mark.parametrize(("package", "extra"), [("matplotlib", "plot"), ("jinja2", "report")])
def test_a_package_that_the_end_needs_is_missed_at_the_start(tmp_path, refusal, stubs, monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    assert f"baconlogic[{extra}]" in refusal("breast-cancer", "-o", "new")
    assert not any(stubs.values())
    assert not (tmp_path / "new").exists()


def test_ctrl_c_ends_an_experiment_whose_fits_would_go_on(run, stubs, monkeypatch):
    went_on = []

    def run_it(**_):
        with contextlib.suppress(KeyboardInterrupt):  # as a fit does, which keeps its best tree so far
            signal.raise_signal(signal.SIGINT)
        went_on.append(True)

    monkeypatch.setitem(__main__.EXPERIMENTS, "iris", run_it)
    before = signal.getsignal(signal.SIGINT)
    assert run("iris") == (130, "", "experiments: interrupted\n")
    assert not went_on
    assert signal.getsignal(signal.SIGINT) is before


def test_the_houses_file_reaches_the_experiment(tmp_path, run, stubs):
    known = ",".join(datasets.HOUSE_FEATURES)
    (tmp_path / "real.csv").write_text(f"{known}\n1,2,3,4,5,6\n", encoding="utf-8")
    assert "houses line" in run("houses", "--houses", "real.csv")[1]
    assert stubs["houses"]["path"] == Path("real.csv")


@pytest.mark.slow
def test_the_command_runs_an_experiment_from_the_root_of_the_repository(tmp_path):
    command = [sys.executable, "-m", "experiments", "houses", "--quick", "--jobs", "1", "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, cwd=Path(__file__).parents[2])
    assert "beats the paper" in done.stdout
    assert len(list(tmp_path.glob("*.png"))) == 4
