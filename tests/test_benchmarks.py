"""The page of measured results holds the figures it was given, and says what was not measured."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import before_after
import contenders
import goals
import problems
import ranks
import reading
import record
import suite
import timing
import versions
import write
from parts import before_after as before_after_part
from parts import markdown, versions_speed
from parts import reading as reading_part
from parts import stability as stability_part

from baconlogic import Tree

MACHINE = {"processor": "Some CPU", "cores": 2, "system": "Linux x86_64", "python": "3.11.7", "load": 0.5}


def put(folder, name, settings, figures):
    made = {"name": name, "command": f"python benchmarks/{name}.py", "machine": MACHINE, "versions": {"numpy": "2.0.0"}}
    (folder / f"{name}.json").write_text(json.dumps({**made, "settings": settings, "figures": figures}))


def written(folder):
    return write.page(folder, folder / "images", "images")


def fit_of(model, rows, seconds, stopped=""):
    return {
        "model": model, "rows": rows, "columns": 6, "seconds": seconds, "megabytes": 123.0, "accuracy": 0.987,
        "stopped": stopped,
    }  # fmt: skip


def case_of(model, n, recovered, noise=0.0):
    return {
        "model": model, "n": n, "noise": noise, "cases": 4, "recovered": recovered, "stopped": 4 - recovered,
        "median seconds": 0.0421, "median leaves": n,
    }  # fmt: skip


def draw_of(model, condition, jaccard, accuracy):
    return {
        "data": "Iris", "model": model, "condition": condition, "features": 2.5, "jaccard": jaccard, "by chance": 0.25,
        "agreement": 0.876, "accuracy": accuracy,
    }  # fmt: skip


def test_every_part_that_was_not_measured_says_how_to_measure_it(tmp_path):
    page = written(tmp_path)
    names = "suite kernel fit growth predict recovery stability export before_after reading speed"
    for name in names.split():
        assert f"Not measured. To measure it:\n\n    python benchmarks/{name}.py" in page
    assert "![" not in page


def test_kernel_ratios_and_goals_come_from_the_figures(tmp_path):
    seconds = {"baconlogic": 0.0002, "numpy by hand": 0.0006, "torch eager": 0.0123}
    trees = [{"tree": "a chain", "nanoseconds": 16.4, "two_cores": 0.57}]
    figures = {"gradient": [{"case": "left chain", "seconds": seconds}], "evaluation": trees}
    put(tmp_path, "kernel", {"rows evaluated": 1234}, figures)
    page = written(tmp_path)
    assert "| left chain | 200 us | 600 us (3.00 x) | 12.3 ms (61.5 x) |" in page
    assert "numpy by hand, goal 4 x or more: missed; torch eager, goal 40 x or more: met" in page
    assert "| a chain | 16.4 ns | 0.57 of the time |" in page
    assert "goal 15 ns or less: missed" in page


def test_a_peer_that_was_stopped_is_not_given_a_time(tmp_path):
    figures = {"ebm": [{"data": "WDBC", "seconds": {"baconlogic": 5.0, "EBM": None}}]}
    put(tmp_path, "fit", {"limit": 60.0}, figures)
    row = next(line for line in written(tmp_path).splitlines() if line.startswith("| default fit, WDBC"))
    assert "EBM: more than 60.0 s | more than 12.0 x" in row
    assert "open, the peer was stopped" in row  # 12 x is below the goal, but nobody knows how long it would have taken


def test_growth_says_who_is_faster(tmp_path):
    fits = [fit_of("baconlogic", 1000, 2.0), fit_of("tree", 1000, 0.01), fit_of("EBM", 1000, None, "time")]
    fits += [fit_of("baconlogic", 1_000_000, 61.0), fit_of("tree", 1_000_000, 5.0)]
    figures = {"rows, a rule": {"title": "houses", "fits": fits}}
    put(tmp_path, "growth", {"limit": 60.0, "held out": 2000}, figures)
    page = written(tmp_path)
    assert "| 1,000 | 2.00 s, 123 MB, 0.987 | 10.0 ms, 123 MB, 0.987 | more than 60 s |" in page
    assert "At 1,000,000 rows baconlogic is slower than tree. Stopped before that: EBM." in page
    assert "goal 60 s or less: missed" in page
    assert (tmp_path / "images" / "speed.png").stat().st_size > 1000


def test_recovery_says_from_which_size_on_logic_is_lost(tmp_path):
    cases = [case_of("baconlogic", 3, 4), case_of("baconlogic", 4, 4), case_of("tree", 3, 4), case_of("tree", 4, 1)]
    cases.append(case_of("baconlogic", 3, 3, noise=0.05))
    settings = {"limit": 60.0, "rows with noise": 10_000, "contenders": ["baconlogic", "bacon-net", "tree"]}
    put(tmp_path, "recovery", settings, {"cases": cases})
    page = written(tmp_path)
    assert "| 4 | 4 of 4, 42.1 ms, 4 leaves | 1 of 4, 42.1 ms, 4 leaves |" in page
    assert "- baconlogic: recovers all it was given, up to n = 4." in page
    assert "- tree: recovers not all from n = 4 on." in page
    assert "- baconlogic, 5% of the labels wrong: recovers not all from n = 3 on." in page
    assert "Not measured in this run: bacon-net." in page


def test_stability_says_plainly_where_a_peer_is_more_stable(tmp_path):
    rows = [draw_of("baconlogic", "as it is", 0.4, [0.9, 0.8]), draw_of("EBM", "as it is", 0.6, [0.9, 0.9])]
    left = {"baconlogic": [0.8, 0.8], "EBM": [0.9, 0.88]}
    noisy = [draw_of(who, condition, 0.3, left[who]) for condition in stability_part.NOISE for who in left]
    put(tmp_path, "stability", {"draws": 2, "EBM": {"max_rounds": 500}}, {"rows": rows + noisy})
    page = written(tmp_path)
    assert "| Iris | baconlogic | 2.5 | 0.40 (0.25) | 87.6% | 0.850 |" in page
    assert "- Against EBM, the choice of features: baconlogic is less stable on Iris." in page
    assert "- Against EBM, the answers: baconlogic is as stable everywhere." in page
    assert "| Iris | baconlogic | -5.0 (87.6%) |" in page
    assert "- With 10% of labels wrong baconlogic loses more than EBM on Iris." in page
    assert "`max_rounds=500`" in page


def test_bootstrap_samples_are_told_without_the_part_on_noise(tmp_path):
    rows = [{"data": d, "model": "old", "jaccard": j, "agreement": 0.9} for d, j in (("WDBC", 0.5), ("Pima", 0.7))]
    settings = {"draws": 5, "EBM": {}, "bootstraps": 20}
    put(tmp_path, "stability", settings, {"rows": [], "bootstrap": rows})
    page = written(tmp_path)
    assert "| WDBC | 0.50, 90.0% |" in page
    assert "| mean | 0.60, 90.0% |" in page


def test_exports_are_held_to_their_goals(tmp_path):
    seconds = {
        "Python export, probabilities": 3e-6,
        "LogisticRegression.predict_proba": 1.2e-4,
        "C export, decide": 1.72e-7,
    }
    model = {"model": "malignant7.json", "bytes": {"c": 11_741}, "operations": 259, "seconds": seconds}
    put(tmp_path, "export", {}, {"models": [model]})
    page = written(tmp_path)
    assert "| C export, decide | 172 ns |" in page
    assert "| LogisticRegression.predict_proba | 120 us (40.0 x) |" in page
    assert "| bytes: c | 11,741 |" in page
    assert "goal 10 x or more: met; C, goal 150 ns or less: missed" in page


def test_the_page_names_machine_and_versions(tmp_path):
    put(
        tmp_path,
        "predict",
        {"rows": 10, "data": "WDBC"},
        {"models": [{"model": "baconlogic", "one": 1.0, "many": 2.0}]},
    )
    page = written(tmp_path)
    assert "Machine: Some CPU, 2 cores, Linux x86_64, Python 3.11.7. Load average meanwhile: 0.5 to 0.5." in page
    assert "Versions: numpy 2.0.0." in page
    assert "Load average" not in write.head({"predict": {"machine": {**MACHINE, "load": None}, "versions": {}}})


def test_a_command_names_no_place_of_one_machine():
    words = ["--quick", "--json", "/somewhere/x.json", "--limit", "5", "--data=/elsewhere"]
    assert record.command("growth", words) == "python benchmarks/growth.py --quick --limit 5"
    assert record.command("speed", ["--versions", "old=/tmp/x", "now=src"]).endswith("--versions old=FOLDER now=src")
    assert record.command("recovery", ["--models", "a, b"]) == "python benchmarks/recovery.py --models 'a, b'"


@pytest.mark.parametrize(
    ("seconds", "said"), [(5.1e-8, "51.0 ns"), (3.1e-6, "3.10 us"), (0.0481, "48.1 ms"), (125.0, "125 s"), (None, "-")]
)
def test_durations_come_in_the_unit_that_suits_them(seconds, said):
    assert markdown.duration(seconds) == said


def test_a_goal_of_less_is_met_from_below():
    assert goals.Goal(150, "ns").verdict(150.0) == "goal 150 ns or less: met"
    assert goals.Goal(4, "x", more=True).verdict(3.9) == "goal 4 x or more: missed"


# The suite


def score(data, model, fold, accuracy, rules=5):
    rest = {"auc": 0.9, "log_loss": 0.1, "calibration": 0.02, "features": 3, "rules": rules, "fit_seconds": 0.5}
    return suite.Score(data, model, 0, fold, accuracy, **rest, row_microseconds=100.0, table_microseconds=1.0)


def scores_of(**accuracies):
    """Scores on two data sets, five folds each; the accuracies of a model are its means on them."""
    wobble = (-0.02, -0.01, 0.0, 0.01, 0.02)
    return [
        score(data, model, fold, mean + wobble[fold] / (1 + i))
        for model, means in accuracies.items()
        for i, (data, mean) in enumerate(zip(("WDBC", "Pima"), means, strict=True))
        for fold in range(5)
    ]


def test_scores_are_read_as_they_were_kept_and_the_last_counts(tmp_path):
    kept = scores_of(baconlogic=(0.95, 0.75))
    for each in [score("WDBC", "baconlogic", 0, 0.1), *kept]:
        suite.keep(each, tmp_path / "suite.csv")
    found = suite.read(tmp_path / "suite.csv")
    assert [each.key for each in found] == [each.key for each in kept]
    assert [each.accuracy for each in found] == pytest.approx([each.accuracy for each in kept])


def test_a_quick_run_measures_what_is_known_already(tmp_path, monkeypatch):
    suite.keep(score("Iris Virginica", "baconlogic", 0, 0.9), tmp_path / "suite.csv")
    monkeypatch.setattr(suite, "run_fold", lambda who, key, *_: key[3])  # the fold that is measured
    for words, folds in ((["--quick"], [0]), (["--only", "Iris Virginica", "--seeds", "1"], [1, 2, 3, 4])):
        monkeypatch.setattr(sys, "argv", ["suite.py", "--out", str(tmp_path / "suite.csv"), *words])
        assert list(suite.run(suite.parse(), [suite.CONTENDERS["baconlogic"]])) == folds


def test_equal_scores_share_their_rank_and_less_is_better_for_a_loss():
    scores = ranks.Scores(scores_of(baconlogic=(0.9, 0.8), logistic=(0.9, 0.7), EBM=(0.8, 0.9)))
    assert scores.ranks(scores.models) == {"baconlogic": 1.75, "logistic": 2.25, "EBM": 2.0}
    assert set(scores.ranks(scores.models, "log_loss").values()) == {2.0}


def test_a_constant_difference_has_no_width_and_a_clear_one_is_told():
    scores = ranks.Scores(scores_of(baconlogic=(0.9, 0.8), logistic=(0.95, 0.8), EBM=(0.8, 0.7)))
    gap = scores.difference("WDBC", "logistic")
    assert (gap.mean, gap.low, gap.high) == pytest.approx((-0.05, -0.05, -0.05))
    assert gap.verdict == "below"
    assert scores.difference("Pima", "logistic").verdict == "not told apart"
    said = ranks.sentences(scores)
    assert "not significantly below EBM on **2 of 2**" in said[1]
    assert "not significantly below logistic on **1 of 2** data sets (below on WDBC)" in said[2]
    assert "missed" in said[2]


def test_only_models_with_every_data_set_are_ranked():
    partial = [each for each in scores_of(EBM=(0.9, 0.9)) if each.data == "WDBC"]
    assert ranks.Scores([*scores_of(baconlogic=(0.9, 0.8)), *partial]).models == ["baconlogic"]


def test_a_run_that_was_stopped_is_not_ranked_by_the_folds_it_has():
    stopped = [each for each in scores_of(EBM=(0.9, 0.9)) if (each.data, each.fold) != ("Pima", 4)]
    scores = ranks.Scores([*scores_of(baconlogic=(0.9, 0.8), logistic=(0.9, 0.8)), *stopped])
    assert scores.models == ["baconlogic", "logistic"]
    assert "EBM was not measured" in ranks.sentences(scores)[1]
    begun = ranks.Scores([*scores_of(baconlogic=(0.9, 0.8)), score("Wine class 1", "baconlogic", 0, 0.9)])
    assert begun.data == ["WDBC", "Pima"]


def test_who_shares_the_best_rank_is_first():
    small = {"baconlogic": (0.9, 0.8), "tree, 10 leaves": (0.8, 0.9), "logistic, 10 features": (0.1, 0.1)}
    for order in (small, dict(reversed(small.items()))):
        assert "**first**" in ranks.sentences(ranks.Scores(scores_of(**order)))[0]


def test_a_calibrated_probability_has_no_calibration_error():
    y, p = np.array([0, 1, 1, 1]), np.full(4, 0.75)
    assert suite.calibration_error(y, p) == pytest.approx(0.0)
    assert suite.calibration_error(y, np.full(4, 0.25)) == pytest.approx(0.5)


def test_the_readme_has_the_table_that_was_measured():
    measured = ranks.markdown(ranks.short_table(ranks.Scores(suite.read())))
    assert f"{write.OPENING}\n{measured}\n{write.CLOSING}" in write.README.read_text(encoding="utf-8")


# Tables with text, and generated shapes


def mixed_table():
    pandas = pytest.importorskip("pandas")
    colour, size = ["red", None, "blue", "red"], ["s", "l", "l", "s"]
    return pandas.DataFrame({"colour": colour, "size": size, "age": [1.0, None, 3.0, 4.0]})


def test_a_text_becomes_a_column_a_word_and_two_words_one():
    X = mixed_table()
    assert problems.owners(X) == [0, 0, 1, 2]
    np.testing.assert_array_equal(problems.numbers(X)[:, :3], [[0, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1]])
    assert np.isnan(problems.numbers(X)[1, 3])


def test_medians_of_the_rows_learned_from_stand_for_missing_values():
    train, test = np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0]]), np.array([[np.nan, 4.0]])
    made, held_out = problems.filled(train, test)
    np.testing.assert_array_equal(made, [[1, 5, 0], [2, 5, 1], [3, 5, 0]])
    np.testing.assert_array_equal(held_out, [[2, 4, 1]])


def test_each_model_gets_a_table_as_it_takes_it():
    X, split = mixed_table(), (np.array([0, 2, 3]), np.array([1]))
    seen = {name: suite.seen_by(contenders.CONTENDERS[name], X, split)[1] for name in ("baconlogic", "boosting")}
    assert list(seen["baconlogic"].columns) == ["colour", "size", "age"]
    assert np.isnan(seen["boosting"]).sum() == 1
    assert not np.isnan(suite.seen_by(contenders.CONTENDERS["logistic"], X, split)[1]).any()


@pytest.mark.parametrize("name", problems.SHAPES)
def test_a_shape_is_always_the_same_and_has_both_classes(name):
    pytest.importorskip("pandas")
    (X, y), (again, labels) = (problems.SHAPES[name](Path()) for _ in range(2))
    assert before_after.digest(X, y) == before_after.digest(again, labels)
    assert 1500 <= len(y) == len(X) <= 3000
    assert set(y) == {0, 1}


def test_no_two_problems_have_the_same_name():
    assert len(suite.EVERY) == sum(len(group) for group in problems.GROUPS.values())


# From version to version


def folds_of(accuracy, seconds):
    return {"about": "", "folds": [{"accuracy": accuracy, "log_loss": 0.4, "fit_seconds": seconds, "rules": 6}] * 2}


def test_the_share_of_the_distance_to_boosting_is_told():
    old, new = {"Titanic": folds_of(0.80, 8.0)}, {"Titanic": folds_of(0.83, 2.0)}
    peers = {name: {"Titanic": folds_of(0.84, 1.0)} for name in before_after.PEERS}
    models = ["old", "new", *before_after.PEERS]
    said = before_after_part.told({"scores": {"old": old, "new": new, **peers}}, models, ["Titanic"])
    assert "- TEXT: new is +3.00 points from old (75% of its distance to boosting closed) and takes 1/4.0" in said
    assert "| Titanic | 0.8000, 0.400, 8.00 s, 6.0 | 0.8300, 0.400, 2.00 s, 6.0 | 0.8400, 0.400 |" in said
    assert "- old is within a point of boosting on 0 of 1: not on Titanic." in said
    assert before_after.PEERS == before_after_part.PEERS


def test_what_each_form_gives_is_told_where_all_were_measured():
    scores = {model: {"Titanic": folds_of(0.8, 1.0)} for model in ("old", "new", *before_after_part.FORMS[:-1])}
    assert before_after_part.forms({"scores": scores}, ["old", "new", *before_after.PEERS], ["Titanic"]) == ""
    scores["graded"] = {"Titanic": folds_of(0.7, 2.0)}
    said = before_after_part.forms({"scores": scores}, ["old", "new", *before_after.PEERS], ["Titanic"])
    assert "| means | new, auto | checklist | scorecard | rules | graded |" in said
    assert "| TEXT (1) | " + "0.8000, 0.400, 1.00 s, 6.0 | " * 4 + "0.7000, 0.400, 2.00 s, 6.0 |" in said


def test_times_are_held_against_the_first_version():
    figures = {
        "fit": {"WDBC": {"old": 6.0, "new": 1.0}},
        "leaves": {"WDBC": 3.0},
        "million": 19.0,
        "compile": [9.0, 1.0],
    }
    said = versions_speed.told(figures, ["old", "new"])
    assert "| WDBC | 6.00 s (6.00 x) | 1.00 s | 3.00 s (3.00 x) | goal 4 x or more: met |" in said
    assert "goal 2.5 x or less: missed" in said
    assert "goal 20 s or less: met" in said
    assert "goal 10 s or less: met" in said


def test_a_version_is_told_from_another_by_its_sources(tmp_path):
    (tmp_path / "baconlogic").mkdir()
    file = tmp_path / "baconlogic" / "__init__.py"
    file.write_text("one = 1")
    version = versions._version(f"old={tmp_path}")
    before = version.digest
    file.write_text("one = 2")
    assert (version.name, version.digest != before) == ("old", True)


# Runs in processes of their own


def test_a_run_that_sleeps_is_stopped_and_one_that_answers_is_not():
    asleep = timing.limited(lambda: (lambda: time.sleep(600), lambda: 1), limit=0.05)
    assert (asleep.value, asleep.stopped) == (None, "asleep: no answer in 1 s")
    assert timing.limited(lambda: (lambda: None, lambda: 1), limit=5)[0] == 1


def test_a_fork_does_not_wait_for_threads_of_its_parent():
    script = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, peers, timing
X, y = np.arange(200.0)[:, None], np.arange(200) % 3 > 0
peers.boosting().fit(X, y)  # starts OpenMP's threads
assert timing.limited(lambda: (lambda: peers.boosting().fit(X, y), lambda: 1), limit=2).value == 1
"""
    folder = str(Path(timing.__file__).parent)
    several = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", script, folder], check=True, env=several)


# Reading


def nodes_of(formula):
    return dict(Tree.parse(formula).walk())


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("HC(a[0 at 1, 1 at 2], b)", 0),
        ("HC(a[0 at 1, 1 at 2], A(a[0 at 1, 1 at 2], b))", 1),
        ("HC(a[0 at 1, 1 at 2], a[1 at 3, 0 at 4], b)", 0),  # a band
        ("HC(a[0 at 1, 1 at 2], HD(a[1 at 3, 0 at 4], b))", 1),
        ("A(a[0 at 1, 1 at 2], a[1 at 3, 0 at 4])", 1),
        ("HC(a[0 at 1, 1 at 2], HD(not a[1 at 3, 0 at 4], b))", 0),
    ],
)
def test_a_leaf_said_twice_and_two_directions_outside_a_band_are_found(formula, found):
    assert reading.duplicates(nodes_of(formula)) == found


def test_digits_are_those_that_say_something_and_names_have_none():
    assert reading.numbers_of('0.83(x1234[half at 16.85, slope -0.9]: 60%, "a 77777": 0.4)') == [
        "0.83", "16.85", "0.9", "60", "0.4"
    ]  # fmt: skip
    assert [reading.significant(text) for text in ("0.250", "1200", "16.85", "0", "1.0")] == [2, 2, 4, 0, 1]


def test_a_larger_weight_must_mean_more_influence():
    X = {"a": np.array([0.0, 1.0]), "b": np.array([0.5, 0.52])}
    for formula, kept in (("A(a: 0.6, b: 0.4)", True), ("A(a: 0.4, b: 0.6)", False), ("A(b, a)", True)):
        assert reading.ordered(Tree.parse(formula), (), X) == kept


def test_medians_and_violations_are_counted():
    tree = {"leaves": 4, "gates": 3, "depth": 3, "words": 90, "duplicates": 0, "levels": 2}
    trees = {"Pima": {**tree, "digits": 0, "weights": 0, "parse": 0}}
    assert "| old | 1 | 4 | 3 | 3 | 90 | 1 | 0 (0) | 1 (2) | 0 (0) | 0 (0) | 0 (0) |" in reading_part.told(
        {"old": trees}
    )
