import re
import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from baconlogic import Tree, datasets, explain, load

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "explainability.md").read_text(encoding="utf-8")
PEERS = ["baconlogic", "Decision tree", "SHAP", "LIME", "KAN", "EBM"]

sys.path.append(str(DOCS))
told = import_module("explainability")

CREDIT = Tree.parse("""HC(
    earns = HD(income[0 at 1500, 1 at 4000], savings[0 at 0, 1 at 50000]): 0.6,
    age[0 at 18, 1 at 25]: 0.4)""")
OTHERS = np.array([*product((1500, 2750, 4000), (0, 25000, 50000), (18, 21.5, 25))])


def credit(rows):
    return CREDIT.evaluate(rows, columns=["income", "savings", "age"])


def credited(*person):
    return told.shapley(credit, np.array(person, dtype=float), OTHERS)


def fixed_by(income, savings, age):
    return set(told.minimal(told.fixing(CREDIT, {"income": income, "savings": savings, "age": age})))


@pytest.fixture(scope="module")
def patients():
    """The model, the background and the 40 cases of the page."""
    data = datasets.breast_cancer()
    labels = ["malignant" if y else "benign" for y in data.y]
    frame = data.frame().drop(columns="target")
    seen, unseen, _, _ = train_test_split(frame, labels, test_size=1 / 3, random_state=0, stratify=labels)
    return load(DOCS / "malignant.json"), seen.sample(50, random_state=0), unseen.iloc[:40]


@pytest.fixture(scope="module")
def answers(patients):
    """The 40 cases with their reasons, and their exact Shapley values."""
    model, background, cases = patients
    six = list(model.tree.features)

    def truth(rows):
        return model.tree.evaluate(rows, columns=six)

    exact = [told.shapley(truth, row, background[six].to_numpy()) for row in cases[six].to_numpy()]
    return [told.case(model, row) for row in cases.to_dict("records")], np.array(exact)


def test_the_shapley_values_of_a_sum_are_its_terms_against_the_average():
    rng = np.random.default_rng(0)
    slopes, row, background = rng.normal(size=5), rng.normal(size=5), rng.normal(size=(7, 5))
    found = told.shapley(lambda rows: rows @ slopes + 3.0, row, background)
    np.testing.assert_allclose(found, slopes * (row - background.mean(axis=0)), atol=1e-12)


def test_the_shapley_values_of_a_product_of_two_are_those_by_hand():
    found = told.shapley(lambda rows: rows[:, 0] * rows[:, 1], np.array([2.0, 3.0, 9.0]), np.array([[1.0, 1.0, 0.0]]))
    np.testing.assert_allclose(found, [((2 - 1) + (6 - 3)) / 2, ((3 - 1) + (6 - 2)) / 2, 0.0])


def test_shapley_values_add_up_to_the_difference_from_the_background(patients, answers):
    model, background, cases = patients
    difference = model.truth(cases) - model.truth(background).mean()
    np.testing.assert_allclose(answers[1].sum(axis=1), difference, atol=1e-12)


def test_too_many_features_are_refused():
    with pytest.raises(ValueError, match="at most 12 features, got 13"):
        told.shapley(lambda rows: rows.sum(axis=1), np.zeros(13), np.zeros((1, 13)))
    with pytest.raises(ValueError, match="at most 12 features, got 13"):
        told.fixing(Tree.parse(f"SC({', '.join(f'x{i}' for i in range(13))})"), {f"x{i}": 0.5 for i in range(13)})


def test_two_sufficient_values_share_the_credit_although_either_would_do():
    alone, both = credited(5000, 0, 40), credited(5000, 60000, 40)
    assert fixed_by(5000, 60000, 40) == {frozenset({"age", "income"}), frozenset({"age", "savings"})}
    assert both[0] == pytest.approx(both[1])
    assert 0.25 < both[0] / alone[0] < 0.4  # "to a third of that"
    assert credit([[5000, 0, 40]]) == credit([[5000, 60000, 40]]) == 1.0


def test_one_mandatory_value_that_fails_is_told_well():
    assert fixed_by(5000, 60000, 18) == {frozenset({"age"})}
    assert credited(5000, 60000, 18).argmin() == 2


def test_of_two_values_that_fail_each_is_blamed_although_neither_is_a_lever():
    assert (credited(1200, 0, 17) < -0.05).all()
    assert (credit([[1200, 0, 17], [5000, 0, 17], [1200, 60000, 17], [1200, 0, 40]]) == 0.0).all()
    person = {"income": 1200, "savings": 0, "age": 17}
    assert not explain.counterfactual(CREDIT, person).single


def test_reasons_are_among_the_minimal_ones_found_by_trying_every_set(answers):
    for one in answers[0]:
        assert one.shown in told.minimal(one.fixes)


def test_the_first_shapley_value_of_the_patient_shown_is_in_no_reason(patients, answers):
    _, background, cases = patients
    one, exact = answers[0][29], answers[1][29]
    assert told.minimal(one.fixes) == [frozenset({"perimeter3", "concavity3", "radius2"})]
    assert one.first(exact) == "smoothness1"
    assert one.beside_the_point(exact)
    assert not one.yes
    assert exact[one.features.index("perimeter3")] > 0.0  # speaks for malignant, though it is part of why benign
    assert (background["perimeter3"] < cases["perimeter3"].iloc[29]).mean() > 0.5


def test_in_two_cases_of_three_the_largest_shapley_values_do_not_fix_the_decision(answers):
    lacking = [one.needed(values) - one.smallest for one, values in zip(*answers, strict=True)]
    more = [count for count in lacking if count]
    assert min(lacking) == 0
    assert 0.6 < len(more) / 40 < 0.7
    assert more.count(1) > len(more) / 2  # "mostly it is one value that is missing"
    assert sum(one.beside_the_point(values) for one, values in zip(*answers, strict=True)) <= 2


def test_the_order_in_which_values_are_told_counts_what_is_needed():
    fixes = {frozenset(some): "b" in some for some in ("", "a", "b", "ab")}
    one = told.Case(("a", "b"), yes=True, fixes=fixes, shown=frozenset("b"))
    assert [one.needed(np.array(values)) for values in ([0.1, 0.2], [0.2, 0.1], [-0.9, 0.1])] == [1, 2, 1]
    assert one.smallest == 1
    assert told.judged(np.array([[0.2, -0.1]]), np.array([[0.1, 0.2]]), [one]) == ["1", "1", "1", "1", "2.0"]


def test_the_picture_names_what_is_in_the_reason(answers):
    plt = pytest.importorskip("matplotlib.pyplot")
    one, exact = answers[0][29], answers[1][29]
    ax = told.draw(one, exact, exact, np.array([exact, exact]), yes="malignant")
    marked = {text.get_text().split()[0] for text in ax.get_yticklabels() if "(reason)" in text.get_text()}
    assert marked == one.shown
    plt.close(ax.figure)


def test_every_cell_of_the_table_has_its_reason():
    table = re.findall(r"^\| \[.*$", PAGE, re.MULTILINE)
    assert len(table) == 11
    for line in table:
        title, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.match(r"\[(.*?)\]", title)[1]
        section = PAGE.split(f"\n### {name}\n")[1].split("\n## ")[0].split("\n### ")[0]
        said = re.findall(r"^- \*\*(.+?), (yes|no|partly)\.\*\* \S", section, re.MULTILINE)
        assert said == [(peer, re.sub(r"\[(.*)\]\(.*\)", r"\1", cell)) for peer, cell in zip(PEERS, cells, strict=True)]
        assert ("](" in cells[0]) == (cells[0] != "no")  # what we claim can be run


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_links_of_the_page_lead_somewhere():
    links = re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    assert len(links) > 40
    for file, anchor in links:
        path = DOCS / (file or "explainability.md")
        assert path.exists(), file
        if anchor:
            text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            assert anchor in {slug(each) for each in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}, anchor
