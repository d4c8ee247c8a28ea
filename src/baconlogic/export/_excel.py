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

import re
from collections.abc import Sequence
from typing import Any

from baconlogic.core.answers import Label
from baconlogic.core.nodes import Gate, Leaf
from baconlogic.core.notation import draw, say
from baconlogic.core.tree import Tree
from baconlogic.core.words import one_line
from baconlogic.export._about import about, leaves_of, trees_of
from baconlogic.export._compile import program
from baconlogic.export._program import ATOM, PRODUCT, SUM, All, Among, Expr, Op, Printer, Program, Test, unsupported

MOST_COLUMNS, MOST_ROWS, MOST_CELLS = 16_384, 1_048_576, 5_000_000
_LONG = 500  # characters of a formula's part from which it gets a column of its own: at most 64 levels may be nested
_MOST_DRAWN = 1000  # nodes
_MANY = 100  # arguments of a function; a spreadsheet takes 255
_LARGEST = 1.7e308  # that a cell can hold
_MOST_TEXT = 32_767  # characters in a cell
_MOST_WHOLE = 10**15  # whole numbers from here on lose digits
_ROW = "\0"  # stands for the number of the row in a formula
_PASSES = {  # what a cell, 0, must be; 1 is whether its category is listed
    "missing": "NOT(ISBLANK({0}))",
    "outside": "OR(ISBLANK({0}),AND({0}>=0,{0}<=1))",
    "unlisted": "IF(ISBLANK({0}),TRUE,{1})",
}
_YELLOW, _GREY = "FFF9DB", "BFBFBF"
_USED = "Empty cells are missing values; #N/A says that there is no answer. Cases go into the yellow columns of Decide."


def to_excel(model: Any, *, rows: int = 1000) -> Any:
    """Return an openpyxl Workbook with formulas for so many rows of cases; `.save("model.xlsx")` writes it."""
    try:
        from openpyxl import Workbook
    except ImportError as problem:
        raise ImportError("export to Excel needs the package openpyxl; pip install 'baconlogic[excel]'") from problem
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows < MOST_ROWS:
        raise ValueError(f"rows must be a whole number from 1 to {MOST_ROWS - 1}, got {rows!r}")
    made = program(model, trace=True)
    printer = _ExcelPrinter(made)
    answered = printer.add("answered", _answered(printer, made))
    for binding in made.bindings:
        printer.cells[binding.name] = printer.add(binding.name, printer.whole(binding.value))
    trees = trees_of(model)
    answers = _answers(printer, made, answered, trees)
    cells = rows * (len(answers) + len(printer.steps))
    if len(made.inputs) + len(answers) > MOST_COLUMNS or cells > MOST_CELLS:
        raise ValueError(
            f"{len(made.inputs)} columns and {len(printer.steps)} steps for {rows} rows are more than a workbook holds "
            f"({MOST_CELLS} formulas); give fewer rows, or prune the tree"
        )
    book = Workbook()
    book.properties.creator = "baconlogic"
    _fill_decide(book.active, made, _notes(model, made), answers, rows)
    for first in range(0, len(printer.steps), MOST_COLUMNS):
        sheet = book.create_sheet(f"Workings{first // MOST_COLUMNS + 1 if first else ''}")
        _fill_formulas(sheet, printer.steps[first : first + MOST_COLUMNS], rows)
    _fill_tree(book.create_sheet("Tree"), made, trees)
    _fill_numbers(book.create_sheet("Numbers"), made.classes, list(printer.constants))
    _fill_about(book.create_sheet("About"), about(model, made), trees, drawn=len(made.spots) <= _MOST_DRAWN)
    return book


class _ExcelPrinter(Printer):
    """Writes formulas; what grows long becomes a step of its own, in the next column of the workings."""

    functions = {"abs": "ABS", "exp": "EXP", "log": "LN", "max": "MAX", "min": "MIN"}  # noqa: RUF012

    def __init__(self, made: Program) -> None:
        super().__init__(made.inputs)
        self.steps: list[tuple[str, str]] = []  # name and formula
        self.cells: dict[str, str] = {}  # where a binding is
        self.constants: dict[float | str, int] = {}  # row in the sheet of numbers

    def add(self, name: str, formula: str) -> str:
        """Add a step and return its cell."""
        sheet, column = divmod(len(self.steps), MOST_COLUMNS)
        self.steps.append((name, formula))
        return f"Workings{sheet + 1 if sheet else ''}!{_letters(column)}{_ROW}"

    def raw(self, place: int) -> str:
        return f"Decide!{_letters(place)}{_ROW}"

    def ref(self, name: str) -> str:
        return self.cells[name]

    def number(self, value: float) -> str:
        value = max(-_LARGEST, min(value, _LARGEST))
        if float(f"{value:.15g}") == value and (value == 0.0 or 1e-300 < abs(value) < 1e300):
            return f"{value:.15g}".replace("e", "E")
        return f"{'-' if value < 0.0 else ''}{self._constant(abs(value))}"

    def _constant(self, value: float | str) -> str:
        return f"Numbers!$B${self.constants.setdefault(value, len(self.constants) + 2)}"

    def choice(self, test: str, then: str, otherwise: str) -> str:
        return f"IF({test},{then},{otherwise})"

    def missing(self, place: int) -> str:
        return f"ISBLANK({self.raw(place)})"

    def among(self, test: Among) -> str:
        """Write the test whether an input is one of some categories; + 0 makes numbers of TRUE and FALSE."""
        x = self.raw(test.input)
        if self.kinds[test.input] == "text":
            fit = [
                t for t in map(str, test.categories) if len(t) <= _MOST_TEXT and not re.search("[\0\ufffe\uffff]", t)
            ]
            quoted = [_literal(text) if len(text) <= 255 else self._constant(text) for text in fit]
            return self.joined("OR", [f"EXACT({x},{text})" for text in quoted] or ["FALSE"])
        return self.joined("OR", [f"{x}+0={self.number(float(each))}" for each in test.categories])

    def text(self, value: Expr | Test, least: int = 0) -> str:
        written = super().text(value, least)
        return written if len(written) <= _LONG else self.add("", written)

    def whole(self, value: Expr) -> str:
        """Write a formula. Excel takes =1-x for 0 where it is nearly, but not =(1-x)."""
        written = self.text(value)
        return f"({written})" if isinstance(value, Op) and value.op in ("+", "-") else written

    def joined(self, function: str, parts: Sequence[str]) -> str:
        """Write a function of any number of arguments."""
        return parts[0] if len(parts) == 1 else self._in_steps(parts, ",", f"{function}(", ")")

    def _in_steps(self, parts: Sequence[str], sign: str, start: str = "", end: str = "") -> str:
        """Join parts from left to right; what is long by then becomes a step, and the rest is joined to that."""
        held: list[str] = []
        for part in parts:
            if held and (len(held) == _MANY or sum(map(len, held)) + len(part) > 4 * _LONG):
                held = [self.add("", f"{start}{sign.join(held)}{end}")]
            held.append(part)
        return f"{start}{sign.join(held)}{end}"

    def _op(self, value: Op) -> tuple[str, int]:
        if value.op == "expm1":  # which spreadsheets lack; EXP(g)-1 would lose the digits near 0
            g = self.text(value.args[0], ATOM)
            return f"TANH({g}/2)*(EXP({g})+1)", PRODUCT
        if value.op in ("+", "*") and len(value.args) > 2:
            level = SUM if value.op == "+" else PRODUCT
            texts = [self.text(arg, level + (i > 0)) for i, arg in enumerate(value.args)]
            return self._in_steps(texts, value.op), level
        if value.op in ("min", "max"):
            return self.joined(self.functions[value.op], [self.text(arg) for arg in value.args]), ATOM
        return super()._op(value)

    def _test(self, value: Test) -> tuple[str, int]:
        if isinstance(value, All):
            return self.joined("AND", [self.text(test) for test in value.tests]), ATOM
        return super()._test(value)


def _answered(printer: _ExcelPrinter, made: Program) -> str:
    """Write the test whether a row has an answer: each value of its kind, and no check fails."""
    wanted = {"text": "ISTEXT({0})", "number": "ISNUMBER({0})", "whole": "ISNUMBER({0}),ISLOGICAL({0})"}
    columns = [(printer.raw(place), wanted[column.kind]) for place, column in enumerate(made.inputs)]
    kinds = [f"OR(ISBLANK({x}),{test.format(x)})" for x, test in columns]
    passes = [
        _PASSES[check.why].format(printer.raw(check.input), printer.among(Among(check.input, check.categories)))
        if check.why in _PASSES
        else unsupported("Excel", check)
        for check in made.checks
    ]
    both = [printer.joined("AND", tests) for tests in (kinds, passes) if tests]
    return f"IF({both[0]},{both[1]},FALSE)" if len(both) == 2 else both[0] if both else "TRUE"


def _answers(printer: _ExcelPrinter, made: Program, answered: str, trees: Sequence[Tree]) -> list[tuple[str, str]]:
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


def _letters(column: int) -> str:
    """Return the letters of a column, the first of which is 0."""
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(column + 1))


def _literal(text: str) -> str:
    """Write a text in a formula: controls by number, `_x` apart, because _x0041_ would be read as A."""
    found = []
    for part in re.findall("[\x01-\x1f]|[^\x01-\x1f]+", text):
        quoted = part.replace('"', '""').replace("_x", '_"&"x')
        found.append(f"CHAR({ord(part)})" if part < " " else f'"{quoted}"')
    return "&".join(found) or '""'


def _write(sheet: Any, row: int, column: int, value: Any) -> Any:
    """Put a value into a cell; a text is never taken for a formula."""
    if not isinstance(value, str):
        return sheet.cell(row, column, value)
    cell = sheet.cell(row, column)
    text = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", value[:_MOST_TEXT])
    cell.value = re.sub("[\x01-\x1f]", lambda found: f"_x{ord(found[0]):04X}_", text)
    cell.data_type = "s"
    if value.startswith(("=", "+", "-", "@")):
        cell.quotePrefix = True
    return cell


def _fill_decide(
    sheet: Any, made: Program, notes: Sequence[str], answers: Sequence[tuple[str, str]], rows: int
) -> None:
    """Fill the sheet where cases are typed and answered."""
    from openpyxl.comments import Comment
    from openpyxl.formatting.rule import FormulaRule
    from openpyxl.styles import Font, PatternFill

    sheet.title = "Decide"
    for place, column in enumerate(made.inputs):
        cell = _write(sheet, 1, place + 1, one_line(column.feature))
        cell.comment = Comment(notes[place], "baconlogic", height=120, width=320)
        whole = sheet.column_dimensions[_letters(place)]
        whole.fill = PatternFill("solid", fgColor=_YELLOW)
        if column.kind == "text":
            whole.number_format = "@"  # what is typed there stays text
    start, end = len(made.inputs), len(made.inputs) + len(answers)
    for place in range(end):
        sheet.column_dimensions[_letters(place)].width = 16
    _fill_formulas(sheet, answers, rows, start)
    if made.inputs:
        rule = FormulaRule(formula=[f"COUNTA($A2:${_letters(start - 1)}2)=0"], font=Font(color=_GREY))
        sheet.conditional_formatting.add(f"{_letters(start)}2:{_letters(end - 1)}{rows + 1}", rule)


def _notes(model: Any, made: Program) -> list[str]:
    """Say of each column what it holds: its unit and what the tree makes of it."""
    said: dict[str, dict[str, None]] = {each.feature: {} for each in made.inputs}
    for leaf in leaves_of(model):
        said[leaf.feature][one_line(say(Leaf(leaf.feature, leaf.criterion)))] = None
    kinds = {"number": "A number", "text": "A text", "whole": "A whole number"}
    heads = [f"{kinds[each.kind]}{f' in {one_line(each.unit)}' if each.unit else ''}" for each in made.inputs]
    columns = zip(heads, said.values(), strict=True)
    return ["\n".join([f"{head}; empty when missing.", *lines])[:2000] for head, lines in columns]


def _fill_formulas(sheet: Any, columns: Sequence[tuple[str, str]], rows: int, start: int = 0) -> None:
    """Fill columns with a head and the same formula in every row."""
    for column, (_, formula) in enumerate(columns, start=start + 1):
        parts = f"={formula}".split(_ROW)
        for row in range(2, rows + 2):
            sheet.cell(row, column, str(row).join(parts))
    _show_heads(sheet, [head for head, _ in columns], start)


def _fill_tree(sheet: Any, made: Program, trees: Sequence[Tree]) -> None:
    """Fill the sheet that lists every node, root first, inputs below their gate."""
    from openpyxl.styles import Alignment

    heads = ["truth of", "depth", "what it says", "name", "code", "andness", "weight in the gate above", "aggregator"]
    row, indents = 2, [Alignment(indent=depth) for depth in range(16)]
    for k, tree in enumerate(trees):
        owner = one_line(str(made.classes[k if len(trees) > 1 else -1]))
        weights: dict[tuple[int, ...], float] = {}
        for path, node in tree.walk():
            code = andness = aggregator = None
            if isinstance(node, Gate):
                weights |= {(*path, i): weight for i, weight in enumerate(node.weights)}
                code, andness, aggregator = node.level.code, node.andness, node.aggregator
            said = [owner, len(path), one_line(say(node)), one_line(node.name)]
            for column, value in enumerate([*said, code, andness, weights.pop(path, None), aggregator], start=1):
                if value not in (None, ""):
                    _write(sheet, row, column, value)
            sheet.cell(row, 3).alignment = indents[min(len(path), 15)]
            row += 1
    sheet.column_dimensions["C"].width = 80
    _show_heads(sheet, heads)


def _fill_numbers(sheet: Any, classes: Sequence[Label], constants: Sequence[float | str]) -> None:
    """Fill the sheet of the classes and of the constants that a formula could not hold whole."""
    for row, label in enumerate(classes, start=2):
        plain = isinstance(label, bool | float) or (isinstance(label, int) and abs(label) < _MOST_WHOLE)
        _write(sheet, row, 1, label if plain else one_line(str(label)))
    for row, value in enumerate(constants, start=2):
        _write(sheet, row, 2, value)
    _show_heads(sheet, ["classes", "numbers of more than 15 digits"])


def _fill_about(sheet: Any, said: Sequence[str], trees: Sequence[Tree], *, drawn: bool) -> None:
    """Fill a sheet with lines of text, in letters of one width for what is drawn."""
    from openpyxl.styles import Font

    one_width, nodes = Font(name="Consolas"), ["", "The sheet Tree lists every node."]
    if drawn:
        nodes = [line for tree in trees for line in ["", *draw(tree.root).splitlines()]]
    for row, text in enumerate([*said, "", _USED, *nodes], start=1):
        _write(sheet, row, 1, text).font = one_width
    sheet.column_dimensions["A"].width = 120


def _show_heads(sheet: Any, heads: Sequence[str], start: int = 0) -> None:
    """Write the first line from a column on, and make all of it stand out and stay."""
    from openpyxl.styles import Alignment, Font

    bold, top = Font(bold=True), Alignment(wrap_text=True, vertical="top")
    for column, head in enumerate(heads, start=start + 1):
        _write(sheet, 1, column, head)
    for cell in sheet[1]:
        cell.font, cell.alignment = bold, top
    sheet.freeze_panes = "A2"
