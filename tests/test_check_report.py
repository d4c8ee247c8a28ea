import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_cases import random_case
from strategies import trees

from baconlogic import Gate, Tree
from baconlogic.decision import Decision, Feature, Link
from baconlogic.explain.describing import describe
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
    assert str(found).startswith("Nothing contradicts the tree: ")


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


def test_what_describe_says_of_random_trees_is_never_flagged():
    rng = np.random.default_rng(3)
    checked = 0
    for _ in range(60):
        tree, _, _ = random_case(rng)
        threshold = float(rng.choice([0.5, 0.3, 0.613]))
        text = f"{describe(tree, threshold=threshold)}\n\n{tree}"
        found = check_report(text, tree, threshold=threshold)
        assert found.passed, f"{text}\n{found}"
        checked += found.checked
    assert checked > 1200


@given(trees)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_name_makes_a_true_text_false(tree):
    found = check_report(str(describe(tree)), tree)
    assert found.passed, f"{describe(tree)}\n{found}"
