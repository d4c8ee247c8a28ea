"""A decision as an Excel workbook that works itself out: type or paste rows, read the answers.

    Decide      one line a case: the columns, then truth, probabilities, the decision, and the truth of every node
    Workings    one column a step of the arithmetic (Workings2 and so on where there are more than a sheet can hold)
    Tree        every node with its words, andness and weight
    Numbers     the classes, and numbers of more digits than Excel keeps in a formula (15)
    About       what the decision is, where it comes from, the tree drawn

An empty cell is missing, and ="" is the empty text; what has no answer is #N/A, and so is a text where a number is
wanted or a number where a text is. Texts must be equal letter by letter, capitals too. Only functions that every
spreadsheet has are used. Spreadsheets take numbers that differ by less than about 1e-15 of themselves for equal: a
degree of truth as near to 1 as that is fully true there, which a program tells apart. Else the answers are those of
`evaluate` to about 1e-13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baconlogic.core.outline import draw, say
from baconlogic.core.tree import Tree
from baconlogic.core.words import one_line
from baconlogic.export import _excel_sheets as sheets
from baconlogic.export._about import about
from baconlogic.export._compile import program
from baconlogic.export._program import ATOM, PRODUCT, SUM, All, Op, Printer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from baconlogic.export._program import Among, Check, Expr, Less, Missing, Program, Test

MOST_COLUMNS, MOST_ROWS, MOST_CELLS = 16_384, 1_048_576, 5_000_000
_LONG = 500  # characters of a formula's part from which it gets a column of its own: at most 64 levels may be nested
_MOST_DRAWN = 1000  # nodes
_MANY = 100  # arguments of a function; a spreadsheet takes 255
_LARGEST = 1.7e308  # that a cell can hold


def to_excel(model: Any, *, rows: int = 1000) -> Any:
    """Return an openpyxl Workbook with formulas for so many rows of cases; `.save("model.xlsx")` writes it."""
    try:
        from openpyxl import Workbook
    except ImportError as problem:
        raise ImportError("export to Excel needs the package openpyxl; pip install 'baconlogic[excel]'") from problem
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows < MOST_ROWS:
        raise ValueError(f"rows must be a whole number from 1 to {MOST_ROWS - 1}, got {rows!r}")
    made = program(model, trace=True)
    printer = _Excel(made)
    answered = printer.add("answered", _answered(printer, made))
    for binding in made.bindings:
        printer.cells[binding.name] = printer.add(binding.name, printer.whole(binding.value))
    trees = _trees(model)
    answers = _answers(printer, made, answered, trees)
    cells = rows * (len(answers) + len(printer.steps))
    if len(made.inputs) + len(answers) > MOST_COLUMNS or cells > MOST_CELLS:
        raise ValueError(
            f"{len(made.inputs)} columns and {len(printer.steps)} steps for {rows} rows are more than a workbook holds "
            f"({MOST_CELLS} formulas); give fewer rows, or prune the tree"
        )
    book = Workbook()
    book.properties.creator = "baconlogic"
    sheets.decide(book.active, made, trees, answers, rows)
    for first in range(0, len(printer.steps), MOST_COLUMNS):
        sheet = book.create_sheet(f"Workings{first // MOST_COLUMNS + 1 if first else ''}")
        sheets.workings(sheet, printer.steps[first : first + MOST_COLUMNS], rows)
    sheets.nodes(book.create_sheet("Tree"), made, trees)
    sheets.numbers(book.create_sheet("Numbers"), made.classes, list(printer.constants))
    sheets.lines(book.create_sheet("About"), _about(model, made, trees))
    return book


def _about(model: Any, made: Program, trees: Sequence[Tree]) -> list[str]:
    drawn = ["", "The sheet Tree lists every node."]
    if len(made.spots) <= _MOST_DRAWN:
        drawn = [line for tree in trees for line in ["", *draw(tree.root).splitlines()]]
    used = (
        "Empty cells are missing values; #N/A says that there is no answer. Cases go into the yellow columns of Decide."
    )
    return [*about(model, made), "", used, *drawn]


def _trees(model: Any) -> tuple[Tree, ...]:
    model = getattr(model, "decision_", model)
    return (model,) if isinstance(model, Tree) else tuple(model.trees)


class _Excel(Printer):
    """Writes formulas; what grows long becomes a step of its own, in the next column of the workings."""

    functions = {"abs": "ABS", "exp": "EXP", "log": "LN", "max": "MAX", "min": "MIN"}  # noqa: RUF012

    def __init__(self, program: Program) -> None:
        self._kinds = [each.kind for each in program.inputs]
        self.steps: list[tuple[str, str]] = []  # name and formula
        self.cells: dict[str, str] = {}  # where a binding is
        self.constants: dict[float | str, int] = {}  # row in the sheet of numbers

    def add(self, name: str, formula: str) -> str:
        """Add a step and return its cell."""
        sheet, column = divmod(len(self.steps), MOST_COLUMNS)
        self.steps.append((name, formula))
        return f"Workings{sheet + 1 if sheet else ''}!{sheets.letters(column)}{sheets.ROW}"

    def raw(self, place: int) -> str:
        return f"Decide!{sheets.letters(place)}{sheets.ROW}"

    def ref(self, name: str) -> str:
        return self.cells[name]

    def number(self, value: float) -> str:
        value = max(-_LARGEST, min(value, _LARGEST))
        if float(f"{value:.15g}") == value and (value == 0.0 or 1e-300 < abs(value) < 1e300):
            return f"{value:.15g}".replace("e", "E")
        return f"{'-' if value < 0.0 else ''}{self._constant(abs(value))}"

    def _constant(self, value: float | str) -> str:
        return f"Numbers!$B${self.constants.setdefault(value, len(self.constants) + 2)}"

    def _quoted(self, text: str) -> str:
        return sheets.literal(text) if len(text) <= 255 else self._constant(text)

    def choice(self, test: str, then: str, otherwise: str) -> str:
        return f"IF({test},{then},{otherwise})"

    def missing(self, place: int) -> str:
        return f"ISBLANK({self.raw(place)})"

    def among(self, test: Among) -> str:
        return self.listed(test.input, test.categories)

    def listed(self, place: int, categories: Iterable[Any]) -> str:
        """Write the test whether an input is one of some categories; + 0 makes numbers of TRUE and FALSE."""
        x = self.raw(place)
        if self._kinds[place] == "text":
            possible = [text for text in categories if sheets.fits(text)]
            return self.joined("OR", [f"EXACT({x},{self._quoted(text)})" for text in possible] or ["FALSE"])
        return self.joined("OR", [f"{x}+0={self.number(float(each))}" for each in categories])

    def text(self, value: Expr | Test, least: int = 0) -> str:
        written = super().text(value, least)
        return written if len(written) <= _LONG else self.add("", written)

    def whole(self, value: Expr) -> str:
        """Write a formula. Excel takes =1-x for 0 where it is nearly, but not =(1-x)."""
        written = self.text(value)
        return f"({written})" if isinstance(value, Op) and value.op in ("+", "-") else written

    def joined(self, function: str, parts: Sequence[str]) -> str:
        """Write a function of any number of arguments."""
        return parts[0] if len(parts) == 1 else self._in_steps(parts, ",", lambda text: f"{function}({text})")

    def _in_steps(self, parts: Sequence[str], sign: str, whole: Callable[[str], str]) -> str:
        """Join parts from left to right; what is long by then becomes a step, and the rest is joined to that."""
        held: list[str] = []
        for part in parts:
            if held and (len(held) == _MANY or sum(map(len, held)) + len(part) > 4 * _LONG):
                held = [self.add("", whole(sign.join(held)))]
            held.append(part)
        return whole(sign.join(held))

    def _op(self, value: Op) -> tuple[str, int]:
        if value.op == "expm1":  # which spreadsheets lack; EXP(g)-1 would lose the digits near 0
            g = self.text(value.args[0], ATOM)
            return f"TANH({g}/2)*(EXP({g})+1)", PRODUCT
        if value.op in ("+", "*") and len(value.args) > 2:
            level = SUM if value.op == "+" else PRODUCT
            texts = [self.text(arg, level + (i > 0)) for i, arg in enumerate(value.args)]
            return self._in_steps(texts, value.op, lambda text: text), level
        if value.op in ("min", "max"):
            return self.joined(self.functions[value.op], [self.text(arg) for arg in value.args]), ATOM
        return super()._op(value)

    def _test(self, value: All | Among | Less | Missing) -> tuple[str, int]:
        if isinstance(value, All):
            return self.joined("AND", [self.text(test) for test in value.tests]), ATOM
        return super()._test(value)


def _answered(printer: _Excel, made: Program) -> str:
    """Write the test whether a row has an answer: each value of its kind, and no check fails."""
    kinds = []
    for place, column in enumerate(made.inputs):
        x = printer.raw(place)
        wanted = {"text": f"ISTEXT({x})", "number": f"ISNUMBER({x})", "whole": f"ISNUMBER({x}),ISLOGICAL({x})"}
        kinds.append(f"OR(ISBLANK({x}),{wanted[column.kind]})")
    passes = [_passes(printer, check) for check in made.checks]
    both = [printer.joined("AND", tests) for tests in (kinds, passes) if tests]
    return f"IF({both[0]},{both[1]},FALSE)" if len(both) == 2 else both[0] if both else "TRUE"


def _passes(printer: _Excel, check: Check) -> str:
    x = printer.raw(check.input)
    if check.why == "missing":
        return f"NOT(ISBLANK({x}))"
    if check.why == "outside":
        return f"OR(ISBLANK({x}),AND({x}>=0,{x}<=1))"
    return f"IF(ISBLANK({x}),TRUE,{printer.listed(check.input, check.categories)})"


def _answers(printer: _Excel, made: Program, answered: str, trees: Sequence[Tree]) -> list[tuple[str, str]]:
    """Return the head and the formula of each column that answers."""
    labels = [one_line(str(label)) for label in made.classes]
    owners = labels if len(trees) > 1 else [""] * len(trees)
    found = [(f"truth {owner}".strip(), printer.ref(name)) for owner, name in zip(owners, made.truths, strict=True)]
    chances = zip(labels, made.probabilities, strict=True) if made.probabilities else []
    found += [(f"probability of {label}", printer.ref(name)) for label, name in chances]
    text = '&""' if all(isinstance(label, str) for label in made.classes) else ""  # an empty text would become 0
    found.append(("decision", f"INDEX(Numbers!$A$2:$A${len(labels) + 1},{printer.ref(made.choice)}+1){text}"))
    nodes = [dict(tree.walk()) for tree in trees]
    below = [spot for spot in made.spots if spot.path]
    if len(made.inputs) + len(found) + len(below) <= MOST_COLUMNS:
        found += [(one_line(say(nodes[spot.tree][spot.path])), printer.ref(spot.name)) for spot in below]
    return [(head, f"IF({answered},{formula},NA())") for head, formula in found]
