"""The page of measured results holds the figures it was given, and says what was not measured."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import goals
import ranks
import record
import suite
import write
from parts import markdown
from parts import stability as stability_part

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
    for name in ("suite", "kernel", "fit", "growth", "predict", "recovery", "stability", "export"):
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
