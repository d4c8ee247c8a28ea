"""The sheets of a workbook: texts that stay texts whatever they begin with, formulas down the rows, notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from baconlogic.core.nodes import Gate, Leaf
from baconlogic.core.notation import say
from baconlogic.core.words import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baconlogic.core.answers import Label
    from baconlogic.core.tree import Tree
    from baconlogic.export._program import Program

ROW = "\0"  # stands for the number of the row in a formula
_MOST_TEXT = 32_767  # characters in a cell
_MOST_WHOLE = 10**15  # whole numbers from here on lose digits
_YELLOW, _GREY = "FFF9DB", "BFBFBF"


def letters(column: int) -> str:
    """Return the letters of a column, the first of which is 0."""
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(column + 1))


def fits(text: str) -> bool:
    """Tell whether a cell can hold a text at all."""
    return len(text) <= _MOST_TEXT and not re.search("[\0\ufffe\uffff]", text)


def literal(text: str) -> str:
    """Write a text in a formula: controls by number, `_x` apart, because _x0041_ would be read as A."""
    found = []
    for part in re.findall("[\x01-\x1f]|[^\x01-\x1f]+", text):
        if part < " ":
            found.append(f"CHAR({ord(part)})")
        else:
            found.append('"' + part.replace('"', '""').replace("_x", '_"&"x') + '"')
    return "&".join(found) or '""'


def write(sheet: Any, row: int, column: int, value: Any) -> Any:
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


def decide(sheet: Any, made: Program, trees: Sequence[Tree], answers: Sequence[tuple[str, str]], rows: int) -> None:
    """Fill the sheet where cases are typed and answered."""
    from openpyxl.comments import Comment
    from openpyxl.formatting.rule import FormulaRule
    from openpyxl.styles import Font, PatternFill

    sheet.title = "Decide"
    notes = _notes(made, trees)
    for place, column in enumerate(made.inputs):
        cell = write(sheet, 1, place + 1, one_line(column.feature))
        cell.comment = Comment(notes[place], "baconlogic", height=120, width=320)
        whole = sheet.column_dimensions[letters(place)]
        whole.fill = PatternFill("solid", fgColor=_YELLOW)
        whole.width = 16
        if column.kind == "text":
            whole.number_format = "@"  # what is typed there stays text
    start = len(made.inputs) + 1
    for offset, (head, formula) in enumerate(answers):
        write(sheet, 1, start + offset, head)
        sheet.column_dimensions[letters(start + offset - 1)].width = 16
        _down(sheet, start + offset, formula, rows)
    _head(sheet)
    if made.inputs:
        end = letters(start + len(answers) - 2)
        empty = f"COUNTA($A2:${letters(len(made.inputs) - 1)}2)=0"
        rule = FormulaRule(formula=[empty], font=Font(color=_GREY))
        sheet.conditional_formatting.add(f"{letters(start - 1)}2:{end}{rows + 1}", rule)


def _notes(made: Program, trees: Sequence[Tree]) -> list[str]:
    """Say of each column what it holds: its unit and what the tree makes of it."""
    said: dict[str, dict[str, None]] = {each.feature: {} for each in made.inputs}
    for tree in trees:
        for _, node in tree.walk():
            if isinstance(node, Leaf):
                said[node.feature][one_line(say(Leaf(node.feature, node.criterion)))] = None
    kinds = {"number": "A number", "text": "A text", "whole": "A whole number"}
    found = []
    for column in made.inputs:
        unit = f" in {one_line(column.unit)}" if column.unit else ""
        found.append("\n".join([f"{kinds[column.kind]}{unit}; empty when missing.", *said[column.feature]])[:2000])
    return found


def workings(sheet: Any, steps: Sequence[tuple[str, str]], rows: int) -> None:
    """Fill a sheet with steps, one a column."""
    for column, (name, formula) in enumerate(steps, start=1):
        write(sheet, 1, column, name)
        _down(sheet, column, formula, rows)
    _head(sheet)


def nodes(sheet: Any, made: Program, trees: Sequence[Tree]) -> None:
    """Fill the sheet that lists every node, root first, inputs below their gate."""
    from openpyxl.styles import Alignment

    heads = ["truth of", "depth", "what it says", "name", "code", "andness", "weight in the gate above", "aggregator"]
    for column, head in enumerate(heads, start=1):
        write(sheet, 1, column, head)
    row, indents = 2, [Alignment(indent=depth) for depth in range(16)]
    for k, tree in enumerate(trees):
        owner = one_line(str(made.classes[k if len(trees) > 1 else -1]))
        weights: dict[tuple[int, ...], float] = {}
        for path, node in tree.walk():
            if isinstance(node, Gate):
                weights |= {(*path, i): weight for i, weight in enumerate(node.weights)}
            about_gate = [node.level.code, node.andness] if isinstance(node, Gate) else [None, None]
            values = [owner, len(path), one_line(say(node)), one_line(node.name), *about_gate, weights.pop(path, None)]
            for column, value in enumerate([*values, node.aggregator if isinstance(node, Gate) else None], start=1):
                if value not in (None, ""):
                    write(sheet, row, column, value)
            sheet.cell(row, 3).alignment = indents[min(len(path), 15)]
            row += 1
    sheet.column_dimensions["C"].width = 80
    _head(sheet)


def numbers(sheet: Any, classes: Sequence[Label], constants: Sequence[float | str]) -> None:
    """Fill the sheet of the classes and of the constants that a formula could not hold whole."""
    write(sheet, 1, 1, "classes")
    write(sheet, 1, 2, "numbers of more than 15 digits")
    for row, label in enumerate(classes, start=2):
        plain = isinstance(label, bool | float) or (isinstance(label, int) and abs(label) < _MOST_WHOLE)
        write(sheet, row, 1, label if plain else one_line(str(label)))
    for row, value in enumerate(constants, start=2):
        write(sheet, row, 2, value)
    _head(sheet)


def lines(sheet: Any, texts: Sequence[str]) -> None:
    """Fill a sheet with lines of text, in letters of one width for what is drawn."""
    from openpyxl.styles import Font

    one_width = Font(name="Consolas")
    for row, text in enumerate(texts, start=1):
        write(sheet, row, 1, text).font = one_width
    sheet.column_dimensions["A"].width = 120


def _down(sheet: Any, column: int, formula: str, rows: int) -> None:
    """Write a formula in every row."""
    parts = f"={formula}".split(ROW)
    for row in range(2, rows + 2):
        sheet.cell(row, column, str(row).join(parts))


def _head(sheet: Any) -> None:
    """Make the first line stand out and stay."""
    from openpyxl.styles import Alignment, Font

    bold, top = Font(bold=True), Alignment(wrap_text=True, vertical="top")
    for cell in sheet[1]:
        cell.font, cell.alignment = bold, top
    sheet.freeze_panes = "A2"
