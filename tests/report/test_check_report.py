import re
from itertools import product
from time import perf_counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_cases import random_case
from strategies import trees

from baconlogic import Gate, Leaf, Tree
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.explain._describe import describe
from baconlogic.report import check_report

PAPER = Tree.parse(
    "HHC(concave_points3: 0.5, HHD(radius2: 0.04, area1: 0.11, concavity1: 0.34, perimeter3: 0.51): 0.5)"
)
CELL = Tree.parse(
    'HC(dents[half at 0.14, slope 50]: 0.6, "big cell" = HD(area[half at 880, slope 0.01]: 0.75, '
    'radius[0 at 12, 1 at 25, unit "mm"]: 0.25): 0.3, smoothness[1 at 0.1, 0 at 0.2]: 0.1)'
)
# The sample report of Appendix H, word for word.
SAMPLE = r"""
\textbf{{\large Overview}}

This aggregation tree provides an interpretable decision logic for breast cancer diagnosis based on the WDSD
dataset. The structure of the tree reflects a highly cautious approach, ensuring that both cell irregularity and
size-related factors are strictly considered. The overall decision requires strong evidence from both aspects,
following an aggregation path that demands multiple conditions to be met simultaneously for a diagnosis leaning
towards malignancy.

\textbf{\large Decision Logic Walkthrough}

\textbf{Top-level Aggregator: HHC — High Hyper-Conjunction (Extremely strict "must have all" behavior)}

At the root, the model uses a \textbf{High Hyper-Conjunction} (HHC), which is among the strictest conjunctive
operators. This operator requires that both child nodes provide strong signals simultaneously for the decision
path to indicate a malignant cell. This means that even if one path shows high risk, the decision will not be
affirmative unless the other path also confirms it.

\textbf{First branch:} Feature \textit{concave\_points3} \\
This feature measures the number of concave points (sharp indentations) on the cell nucleus border. A higher
value suggests increased irregularity, which is a known indicator of malignancy.

\textbf{Second branch:}
Aggregator HHD — High Hyper-Disjunction (Extremely tolerant "enough to have any of the most extreme cases") \\
This operator is a highly permissive disjunction, meaning that the model is willing to accept any one of its
child features showing extreme values as sufficient within this path.

Children of HHD:
\begin{enumerate}
    \item \textit{radius2} (Weight: 0.04) Reflects the radius of the nucleus. Lower weight suggests it is the
    least influential among this group.
    \item \textit{area1} (Weight: 0.11) Represents the area of the nucleus. Slightly more important but still
    relatively low influence.
    \item \textit{concavity1} (Weight: 0.34) Measures the degree of concave portions (dents) in the contour.
    Significant contributor in this group, highlighting that the degree of irregularity is critical.
    \item \textit{perimeter3} (Weight: 0.51) Captures the length of the nucleus border. Most influential feature
    in this group, suggesting that larger or irregular borders are strong risk indicators.
\end{enumerate}

\textbf{\large Clinical Interpretation}

The aggregation tree reflects a clinically cautious and conservative diagnostic logic:

\textbf{The model requires both high concave points (\textit{concave\_points3}) and strong evidence from the
size-related group (HHD) to consider the cell malignant.}

\textit{concave\_points3} plays a decisive role, acting as a gatekeeper that must be high regardless of what
happens in the size group. The HHD branch, although permissive in combining its inputs, is treated strictly at
the root level due to the HHC operator. This means that the model tolerates multiple possible manifestations of
size-related abnormalities but does not allow them to override the need for high irregularity.
\textit{perimeter3} and \textit{concavity1} are the standout contributors within the HHD group, confirming that
larger perimeter and irregular borders are strong secondary indicators.

\textbf{\large Key clinical takeaways:}

Irregular cell shape (concave points and concavity) is mandatory for malignancy prediction.

Size indicators (perimeter, area, radius) support the diagnosis but cannot compensate for a lack of
irregularity.

This aligns well with known pathology principles where malignant cells often display both abnormal size and
irregular edges, but shape irregularity remains a stronger, more decisive feature.

"""

# What is wrong with it. The tree contradicts one statement: concavity1 is below HHD, where perimeter3 can stand in for
# it, so it is not mandatory. Two more are slips that no tree can show: the HHD group is called "size-related" though
# concavity1 (0.34 of it) is no size, and radius2 is not the radius but its standard error (the data set's own names).
SLIP = "Irregular cell shape (concave points and concavity) is mandatory for malignancy prediction."
CLEAN = SAMPLE.replace(SLIP, "Irregular cell shape (concave points) is mandatory for malignancy prediction.")


def kinds(text, tree=PAPER, **rest):
    return [row.kind for row in check_report(text, tree, **rest).rows]


def test_the_sample_report_is_flagged_for_its_one_statement_against_the_tree():
    found = check_report(SAMPLE, PAPER, label="malignant")
    assert [(row.kind, row.said, row.sentence) for row in found.rows] == [("role", "concavity1 is mandatory", SLIP)]
    assert "by the bounds of the tree" in found.rows[0].true
    assert not found.passed
    assert found.checked >= 30
    assert found.remarks == ()


def test_without_its_slip_the_sample_report_passes():
    found = check_report(CLEAN, PAPER, label="malignant")
    assert found.passed
    assert str(found).startswith("Nothing found that contradicts the tree: ")


# Each changes one thing in the report without slips.
PLANTED = [
    ("(Weight: 0.51)", "(Weight: 0.61)", "weight"),
    ("(Weight: 0.04)", "(Weight: 14%)", "weight"),
    ("(Weight: 0.34)", "(Weight: 0.11)", "weight"),
    ("Top-level Aggregator: HHC", "Top-level Aggregator: LHC", "code"),
    ("HHC — High Hyper-Conjunction", "HHC — Low Hyper-Conjunction", "code"),
    ("\\textbf{High Hyper-Conjunction} (HHC)", "\\textbf{High Hyper-Disjunction} (HHD)", "code"),
    ("Aggregator HHD — High", "Aggregator HXD — High", "code"),
    ("due to the HHC operator", "due to the HD+ operator", "code"),
    ('strict "must have all"', 'tolerant "enough to have any"', "words"),
    ('"enough to have any of the', '"must have all of the', "words"),
    ("Children of HHD:", "Children of HHD:\n\n- \\textit{concave\\_points3} (Weight: 0.5)\n", "group"),
    ("concavity1} are the standout", "concave\\_points3} are the standout", "group"),
    ("\\item \\textit{area1}", "\\item \\textit{area7}", "feature"),
    ("\\item \\textit{radius2}", "\\item \\textit{texture\\_worst}", "feature"),
    ("it is the least influential", "it is the most influential", "rank"),
    ("Most influential feature in this group", "Least influential feature in this group", "rank"),
    ("acting as a gatekeeper", "though not mandatory", "role"),
    ("(concave points) is mandatory", "(area) is mandatory", "role"),
    ("(concave points) is mandatory", "(concave points) is sufficient", "role"),
    ("(concave points) is mandatory", "(concave points) is optional", "role"),
    ("requires both high concave points", "requires both low concave points", "direction"),
    ("gatekeeper that must be high", "gatekeeper; a smaller concave\\_points3 suggests malignancy", "direction"),
    ("an interpretable decision logic", "a decision logic that turns at 0.7", "threshold"),
    ("The structure of the tree", "The tree uses six features. The structure", "count"),
    ("At the root, the model", "Here perimeter3 matters more than concave_points3. The model", "rank"),
    ("The overall decision", "The most influential feature of the tree is perimeter3. The decision", "rank"),
    ("At the root, the model", "With an andness of 0.9, HHC is strict. The model", "andness"),
    ("At the root, the model", "At the root, any one of the branches is enough. The model", "words"),
    ("At the root, the model", "The feature area1 is not used by the tree. The model", "feature"),
    ("At the root, the model", "Both perimeter3 and radius2 have equal weights. The model", "rank"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "kind"), PLANTED, ids=[f"{i}-{each[2]}" for i, each in enumerate(PLANTED)])
def test_an_error_planted_in_the_sample_report_is_caught(old, new, kind):
    unwrapped = re.sub(r"(?<=[^\s}])\n *(?=[A-Za-z])", " ", CLEAN)
    assert old in unwrapped
    text = unwrapped.replace(old, new, 1)
    found = check_report(text, PAPER, label="malignant")
    assert kind in [row.kind for row in found.rows], str(found)
    for row in found.rows:
        assert 0 <= row.where[0] < row.where[1] <= len(text)


# Errors against a tree in raw units, in the words of a report or of `describe`.
AGAINST_CELL = [
    ("area speaks for yes when it is above about 990.", "threshold"),
    ("radius is half true at 15 mm.", "threshold"),
    ("dents must be above 0.41.", "threshold"),
    ("dents is half true at 0.20.", "threshold"),  # there it is 95% true
    ("The andness of the HD gate is 0.5.", "andness"),
    ("big cell requires both area and radius before it reaches the root.", "words"),
    ("For a yes, smoothness must be above about 0.15.", "threshold"),
    ("The decision turns at a truth of 0.65.", "threshold"),
    ("Higher smoothness makes yes more likely.", "direction"),
    ("Lower values of area speak for yes.", "direction"),
    ("When dents increases, yes becomes less likely.", "direction"),
    ("dents carries 75% of the weight.", "weight"),
    ("radius has a weight of 0.75 within its group.", "weight"),
    ("A weight of 0.3 is given to dents.", "weight"),
    ("The group big cell combines area, radius and smoothness.", "group"),
    ("area alone is sufficient for yes.", "role"),
    ("radius is mandatory.", "role"),
    ("dents is dispensable.", "role"),
    ("dents is not required.", "role"),
    ("The model requires a large radius.", "role"),
    ("smoothness outweighs dents.", "rank"),
    ("Overall, the heaviest weight is on smoothness.", "rank"),
    ("dents is less important than radius.", "rank"),
    ("It combines 3 features in all: the tree uses 3 features.", "count"),
    ("The operator HC (low hard conjunction) sits at the top.", "code"),
    ("HD requires all of its inputs.", "words"),
    ("big cell: must have all of area and radius (HD).", "words"),
    ("`dents` and `skin_texture` are combined.", "feature"),
    ("- Weights\n\n| Feature | Weight |\n|---|---|\n| dents | 0.6 |\n| area | 0.57 |\n", "weight"),
    ("<p>The feature <b>dents</b> has a weight of <i>0.16</i>.</p>", "weight"),
]


@pytest.mark.parametrize(("text", "kind"), AGAINST_CELL)
def test_a_statement_against_a_tree_in_raw_units_is_caught(text, kind):
    found = check_report(text, CELL)
    assert [row.kind for row in found.rows] == [kind], str(found)


HARMLESS = [
    "Area above 1200 is close to fully true.",
    "Only 12% of cases in the hospital had an area above 1500.",
    "Patients with many dents were not part of the study.",
    "Applicants were excluded whatever their area.",
    "dents weighs more than twice as much as smoothness and is the heaviest input.",
    "In big cell one of its inputs is enough, while the root requires all of its inputs.",
    "dents is mandatory: without it the answer is no.",
    "Smoothness is required too, but with little weight (10%).",
    "area is not mandatory, since radius can stand in for it.",
    "Neither area nor radius is mandatory.",
    "area alone is not sufficient for a yes.",
    "Within the big cell group, area is sufficient.",
    "dents has the highest weight of all (0.6), followed by area.",
    "The most influential feature is dents.",
    "The least influential of the two is radius, with a weight of 0.25.",
    "area weighs three times as much as radius (75% against 25%).",
    "area matters more than radius, and dents matters more than both.",
    "One of the most important features is area.",
    "The tree uses four features, three of which are sizes.",
    "Larger dents speak for yes; smaller values of smoothness do too.",
    "Higher smoothness makes yes less likely.",
    "A high smoothness speaks against yes.",
    "area is half true at 880, radius at 18.5 mm.",
    "radius is not true below 12 mm and fully true above 25 mm.",
    "For a yes, smoothness must be below about 0.15.",
    "The decision turns at 0.5: yes when it is more than 50% true.",
    "The root is HC (medium hard conjunction), which must have all.",
    "HD, the medium hard disjunction, is in the big cell group: enough to have any.",
    "Unlike HHC, the operator HC is not extreme.",
    "If area were mandatory, the root would need it directly.",
    "The column skin_texture is not used.",
    "The patient came in 2019 with 3 complaints, and 12 of 30 tests were taken.",
    "dents and the big cell group have weights of 0.6 and 0.3, respectively.",
    "Roughly 60% of the weight is on dents.",
    "The answer depends on all four, to a degree.",
    "A doctor should not rely on area alone.",
    "Both area and radius are measures of size.",
    "| Feature | Weight |\n|---|---|\n| dents | 60% |\n| area | 0.75 |\n| radius | 25 % |\n",
    "",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_true_or_unclear_statement_is_not_flagged(text):
    found = check_report(text, CELL)
    assert found.passed, str(found)


CREDIT = Tree.parse(
    'SC+(income[0 at 20000, 1 at 60000, unit "EUR"]: 0.5, history = HD-(years_employed[half at 4, slope 1]: 0.7, '
    "savings[0 at 1000, 1 at 20000]: 0.3): 0.3, debt_ratio[1 at 0.2, 0 at 0.6]: 0.2)"
)
AGAINST_CREDIT = [
    ("At the top, a hard conjunction (HC) ties everything together.", "code"),
    ("Income, with 40% of the weight, dominates the decision.", "weight"),
    ("Years employed contributes 30% within the history group.", "weight"),
    ("The debt ratio is the single most important factor in the model.", "rank"),
    ("A higher debt ratio increases the likelihood of approval.", "direction"),
    ("Applicants with large savings are less likely to be approved.", "direction"),
    ("Income is fully true above 50,000 EUR.", "threshold"),
    ("The history group follows a must have all logic.", "words"),
    ("Savings alone are sufficient for approval.", "role"),
    ("The model looks at five variables.", "count"),
    ("Within history, savings weighs more than years_employed.", "rank"),
    ("The applicant's `marital_status` is also combined here.", "feature"),
    ("The root is SC+ (medium soft conjunction).", "code"),
    ("The history group (HD-) contains income and savings.", "group"),
    ("Savings (weight 0.7) can replace employment.", "weight"),
    ("The threshold for approval is 0.6.", "threshold"),
    ("Income is optional.", "role"),
    ("Income must be low for approval.", "direction"),
    ("Debt ratio is ignored by the model.", "feature"),
    ("The least influential feature overall is income.", "rank"),
    ("debt_ratio speaks for approval when it is above 0.4.", "threshold"),
    ("The SC+ operator is enough to have any of its inputs.", "words"),
    ("years_employed is half true at 6.", "threshold"),
    ("Income and debt_ratio carry equal weight.", "rank"),
    ("Savings is mandatory for approval.", "role"),
]
TRUE_OF_CREDIT = [
    "At the top, a high soft conjunction (SC+) asks that most of the conditions hold.",
    "Income carries half of the weight.",
    "Income, with 50% of the weight, dominates the decision.",
    "Years employed contributes 70% within the history group.",
    "The single most important factor in the model is income.",
    "A higher debt ratio lowers the likelihood of approval.",
    "Applicants with large savings are more likely to be approved.",
    "Income counts as fully satisfied above 60,000 EUR and not at all below 20,000 EUR.",
    "Savings can make up for a short time in employment, because either is enough within the history group.",
    "The model looks at four variables.",
    "No single feature decides alone.",
    "Savings is helpful but not mandatory.",
    "A strong income can partly compensate for a high debt ratio.",
    "Think of it as a committee: income has the loudest voice.",
    'The root is SC+ (high soft conjunction), a "nice to have most" operator.',
    "Years employed is the most influential input of the history group, savings the least.",
    "About 30% of the decision rests on history.",
    "The debt ratio weighs 0.2, less than income.",
    "It would be wrong to call savings mandatory.",
    "An income of 45,000 EUR is above the half-way point of 40,000 EUR.",
    "The lower the debt ratio, the more it speaks for approval.",
    "Other columns, such as marital_status, are not used.",
    "History is a group of two features: years_employed and savings.",
    "Low savings do not rule out approval.",
    "1. **Income** (50%): the heaviest input.\n2. **History** (30%): either long employment or savings.\n"
    "3. **Debt ratio** (20%): the lower the better.",
    "The andness of the root is 10/14, about 0.71.",
]


@pytest.mark.parametrize(("text", "kind"), AGAINST_CREDIT)
def test_a_statement_against_a_credit_tree_is_caught(text, kind):
    assert kind in kinds(text, CREDIT, label="approved")


@pytest.mark.parametrize("text", TRUE_OF_CREDIT)
def test_a_true_or_unclear_statement_about_a_credit_tree_is_not_flagged(text):
    found = check_report(text, CREDIT, label="approved")
    assert found.passed, str(found)


HEART = Tree.parse(
    'HC-("cardiac strain" = HD(max_heart_rate[1 at 120, 0 at 160, unit "bpm"]: 0.35, '
    "st_depression[0 at 0.5, 1 at 2.5]: 0.65): 0.45, "
    'chest_pain[1 if "asymptomatic", 0.3 if "atypical", other 0]: 0.35, '
    'A(cholesterol[half at 240, slope 0.02, unit "mg/dl"]: 0.5, not exercise_tolerance: 0.5): 0.2)'
)
HEART_REPORT = """# Report on the heart-disease tree

## Overview
The tree decides whether a patient is likely to have heart disease. It brings together five measurements in
three strands: cardiac strain, chest pain, and a balance of cholesterol and exercise tolerance. All three
strands must be at least partly satisfied; a complete failure of one cannot be made up for by the other two.

## Decision Logic Walkthrough
**Root: HC- (Low Hard Conjunction — "must have all").** The root combines three inputs. Cardiac strain carries
  the greatest weight (45%), chest pain follows with 35%, and the third strand has only 20%.

* **Cardiac strain** uses HD (medium hard disjunction, "enough to have any"). Either a low maximum heart rate
  or a pronounced ST depression is enough.
  * `st_depression` (weight 0.65) is the more important of the two. It begins to count at 0.5 and is fully
    true from 2.5 on.
  * `max_heart_rate` (weight 0.35): the lower, the more it speaks for disease. Above 160 bpm it contributes
    nothing; below 120 bpm it is fully true.
* **Chest pain** is a direct input of the root, so it is mandatory: without it the truth cannot exceed one
  half.
* The last strand is a plain average (A, logic neutrality): `cholesterol` and `exercise_tolerance` count
  equally (0.5 each).
  * Cholesterol is half true at 240 mg/dl.
  * Good exercise tolerance speaks against disease.

## Interpretation
The logic resembles what a cardiologist would do. No single finding is sufficient by itself. A patient with
typical ischaemia on the ECG would not be called ill unless chest pain fits as well. Neither cholesterol nor
heart rate is mandatory. Age and sex are not used. The decision turns at a truth of 0.5.

| Feature | Weight | Role |
|---|---|---|
| chest_pain | 0.35 | mandatory |
| st_depression | 0.65 | sufficient within its group |
| max_heart_rate | 0.35 | sufficient within its group |
| cholesterol | 0.5 | neutral |
| exercise_tolerance | 0.5 | neutral |
"""
AGAINST_HEART = [
    ("Chest pain is only a supporting, optional input.", "role"),
    ("Cholesterol is required for a positive result.", "role"),
    ("Cardiac strain carries 35% of the weight and chest pain 45%.", "weight"),
    ("Cholesterol is half true at 200 mg/dl.", "threshold"),
    ("The cardiac strain group averages cholesterol and st_depression.", "group"),
    ("ST depression alone is enough to diagnose disease.", "role"),
    ("The root operator is HC (medium hard conjunction).", "code"),
    ("The tree relies on seven features.", "count"),
    ("Within the cardiac strain group max_heart_rate has the largest weight.", "rank"),
    ("The feature resting_ecg is also taken into account.", "feature"),
    ("The HD gate must have all of its inputs satisfied.", "words"),
    ("Cholesterol outweighs chest pain.", "rank"),
    ("Chest pain does not matter: it is not used.", "feature"),
    ("Disease is predicted when max_heart_rate is above 140.", "threshold"),
    ("Age is the most important feature.", "feature"),
    ("st_depression (65%) and max_heart_rate (45%) make up cardiac strain.", "weight"),
    ("The cut-off is 60%.", "threshold"),
]


def test_a_whole_report_that_is_right_passes():
    found = check_report(HEART_REPORT, HEART, label="disease", known=["age", "sex"])
    assert found.passed, str(found)
    assert found.checked >= 20


@pytest.mark.parametrize(("text", "kind"), AGAINST_HEART)
def test_a_statement_against_a_heart_tree_is_caught_within_a_report(text, kind):
    found = check_report(f"{HEART_REPORT}\n{text}\n", HEART, label="disease", known=["age", "sex"])
    assert {row.kind for row in found.rows} == {kind}, str(found)


def test_a_finding_says_where_it_stands_in_the_text_as_given():
    text = "# Report\n\nThe **weight** of `area1` is *small*: `area1` has a weight of **0.31**.\n"
    (row,) = check_report(text, PAPER).rows
    assert text[slice(*row.where)].replace("*", "") == "weight of 0.31"
    assert (row.kind, row.said, row.true) == ("weight", "area1 weighs 0.31", "area1 weighs 0.11 in its gate")


def test_features_never_mentioned_are_a_remark_and_no_error():
    found = check_report("concave_points3 is mandatory. perimeter3 weighs 0.51 in its group.", PAPER)
    assert found.passed
    assert found.remarks == ("never mentioned, though the tree uses them: concavity1, area1 and radius2",)
    assert "Remark: never mentioned" in str(found)


def test_sentences_that_say_nothing_of_the_tree_are_counted_as_not_checked():
    found = check_report("The sun is shining. perimeter3 weighs 0.51. Birds sing.", PAPER)
    assert (found.checked, found.sentences, found.unchecked) == (1, 3, 2)


def test_a_weight_is_right_within_what_is_printed():
    tree = Tree.parse("C(income: 0.3349, savings: 0.6651)")
    for right in ("0.3", "0.33", "0.335", "33%", "33.5%", "33.49%", "about 30%"):
        assert kinds(f"income has a weight of {right}.", tree) == [], right
    for wrong in ("0.4", "0.34", "0.334", "34%", "33.4%", "about 40%"):
        assert kinds(f"income has a weight of {wrong}.", tree) == ["weight"], wrong


def test_necessity_is_that_of_the_decision_and_not_of_the_gate_alone():
    soft = Tree.parse("SC(income: 0.9, savings: 0.1)")  # nice to have most, but without income there is no yes
    assert kinds("income is mandatory.", soft) == []
    assert kinds("savings is mandatory.", soft, threshold=0.3) == ["role"]
    assert kinds("income is not mandatory.", soft) == ["role"]


def test_what_is_called_mandatory_or_sufficient_is_so_at_every_corner():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(40):
        tree, _, _ = random_case(rng, most=5, again=0.0, kinds=("given",))
        corners = np.array(list(product([0.0, 1.0], repeat=len(tree.features))))
        truths = tree.evaluate(corners, columns=tree.features)
        for i, name in enumerate(tree.features):
            parts = [truths[corners[:, i] == value] for value in (0.0, 1.0)]
            necessary, sufficient = min(p.max() for p in parts) <= 0.5, max(p.min() for p in parts) > 0.5
            seen.add((necessary, sufficient))
            assert (kinds(f"{name} is not mandatory.", tree) == ["role"]) == necessary
            assert (kinds(f"{name} alone is not sufficient.", tree) == ["role"]) == sufficient
    assert len(seen) > 2


def test_a_negated_feature_speaks_the_other_way():
    tree = Tree.parse("C(not income[0 at 10, 1 at 20], savings)")
    assert kinds("Higher income makes yes more likely.", tree) == ["direction"]
    assert kinds("Higher income makes yes less likely.", tree) == []


def test_a_decision_knows_its_answers_its_threshold_and_its_columns():
    tree = Tree.parse("HC(income: 0.6, savings: 0.4)")
    features = [Feature(name, "truth") for name in ("income", "savings", "age_group")]
    decision = Decision([tree], [Link(8.0, 0.62)], ["rejected", "accepted"], features)
    assert kinds("The threshold is 0.62.", decision) == []
    assert kinds("The threshold is 0.5.", decision) == ["threshold"]
    assert kinds("A higher income suggests acceptance.", decision) == []
    assert kinds("A higher income suggests rejection.", decision) == ["direction"]
    assert kinds("The age_group counts too.", decision) == ["feature"]


def test_columns_with_names_like_any_word_are_left_alone():
    tree = Tree.parse("C(weight: 0.7, is: 0.2, a: 0.1)")
    assert kinds("It is said that a weight of 0.5 is high; a patient is not mandatory.", tree) == []


def test_a_long_chain_is_checked():
    node = Leaf("x000")
    for i in range(1, 300):
        node = Gate([node, Leaf(f"x{i:03}")], "SC", [0.9, 0.1])
    assert kinds("x299 has a weight of 0.1. x000 is the most influential feature.", Tree(node)) == ["rank"]


@pytest.mark.parametrize(
    "piece", ["-", "`", "```\n", "(", "a ", "perimeter3 ", "perimeter3 and ", "0.5 ", "| ", "\\\\x{"]
)
def test_a_strange_text_takes_no_time_to_speak_of(piece):
    text = piece * (20_000 // len(piece)) + "x"
    start = perf_counter()
    assert check_report(text, PAPER).passed
    assert perf_counter() - start < 5.0


def test_text_must_be_text():
    with pytest.raises(TypeError, match="a report is text, got bytes"):
        check_report(b"x", PAPER)


def test_findings_are_plain_data():
    found = check_report("perimeter3 is mandatory.", PAPER)
    assert found.to_dict()["rows"][0]["kind"] == "role"
    assert list(found.to_frame()["kind"]) == ["role"]


def test_what_describe_says_of_random_trees_is_never_flagged():
    rng = np.random.default_rng(3)
    checked = 0
    for i in range(100):
        tree, _, _ = random_case(rng, most=8)
        threshold = float(rng.choice([0.5, 0.3, 0.613]))
        text = str(describe(tree, threshold=threshold)) if i % 4 else f"{describe(tree, threshold=threshold)}\n\n{tree}"
        found = check_report(text, tree, threshold=threshold)
        assert found.passed, f"{text}\n{found}"
        checked += found.checked
    assert checked > 1500


@given(trees)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_no_name_makes_a_true_text_false(tree):
    found = check_report(str(describe(tree)), tree)
    assert found.passed, f"{describe(tree)}\n{found}"
