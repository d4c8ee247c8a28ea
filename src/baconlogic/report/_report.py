"""Write a report: gather what there is to say, put it into a page or into Markdown, and put the file in its place."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import platform
import re
from functools import cache
from importlib import import_module
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baconlogic.core import __version__
from baconlogic.core.files import encoded, write_whole
from baconlogic.core.words import listed, number, one_line
from baconlogic.explain import _case as cases
from baconlogic.explain._alternatives import Alternatives
from baconlogic.export._javascript import to_javascript
from baconlogic.report import _content as content
from baconlogic.report import _live as live
from baconlogic.report._material import Material, decision_of, materials
from baconlogic.report._pictures import Written

TEMPLATES = {".html": "page.html.j2", ".md": "page.md.j2"}
LONGEST = 2000  # characters of a setting that are shown
MOST_LIVE = 200  # leaves of a model that the page computes itself
_SPECIAL = {ord(letter): f"\\{letter}" for letter in "\\`*_[]#|~$"}
# what would begin a list, a rule or a heading at the start of a line
_STARTS = re.compile(r"^(\s*)([-+=](?=\s|[-=\s]*$)|\d+(?=[.)](?:\s|$)))")


def report(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    title: str | None = None,
    context: str = "",
    label: Any = None,
    alternatives: Alternatives | None = None,
) -> Path:
    """Write what a model does, on these rows, as one HTML page or as Markdown, by the suffix of `path`.

    The page needs no server and no network: a reader moves the values of a case and the threshold in it. `model` is a
    Tree, a Decision or a fitted classifier. Rows should be new to it; nothing is learned here. Without `y` nothing is
    counted as right or wrong. `context` is said at the top, `alternatives` are those of `explain.alternatives`. Of more
    than two classes, `label` picks the tree of one; without, each is told in turn.
    """
    target = Path(path)
    template = TEMPLATES.get(target.suffix.lower())
    if template is None:
        raise ValueError(f"path must end in .html or .md, got {target.name!r:.60}")
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.resolve().parent} to write {target.name} in")
    found = materials(model, X, y, label)
    if alternatives is not None and len(found) > 1:
        raise ValueError("alternatives are trees of one class: give label= as well, the one they were found for")
    page = _page(found, title, context, alternatives)
    inlined = _inlined(page, found[0]) if template == TEMPLATES[".html"] else {}
    write_whole(_template(template).render(**page, **inlined).encode(), target)
    return target


def _page(found: list[Material], title: str | None, context: str, alternatives: Alternatives | None) -> dict[str, Any]:
    """Return all that a template says."""
    first = found[0]
    chapters = [content.chapter(m, i, alternatives) for i, m in enumerate(found)]
    shown = live.inputs(first.rows)
    return {
        "title": one_line(title) if title else _title(first),
        "context": [part.strip() for part in context.replace("\r\n", "\n").split("\n\n") if part.strip()],
        "overall": content.overall(found),
        "chapters": chapters,
        "inputs": shown,
        "data": live.data(found, [each["cases"] for each in chapters], shown),
        "recipe": _recipe(first.model),
    }


def _title(m: Material) -> str:
    if m.decision is None and m.label is None:
        return "How the decision is made"
    said = listed(m.answers if m.several else [m.yes, m.no])
    return f"{said[:1].upper()}{said[1:]}: how it is decided"


@cache
def _template(name: str) -> Any:
    engine = jinja()
    html_page = name == TEMPLATES[".html"]
    environment = engine.Environment(
        loader=engine.FunctionLoader(_source), autoescape=html_page, finalize=_visible if html_page else _markdown,
        trim_blocks=True, lstrip_blocks=True, undefined=engine.StrictUndefined,
    )  # fmt: skip
    environment.filters.update(lines=_lines, raw=Written, fenced=_fenced)
    return environment.get_template(name)


def jinja() -> Any:
    """Return jinja2, or say how to get it."""
    try:
        return import_module("jinja2")
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] != "jinja2":
            raise
        raise ModuleNotFoundError("a report needs jinja2: pip install 'baconlogic[report]'") from None


def _source(name: str) -> str:
    return (resources("baconlogic.report") / "templates" / name).read_text(encoding="utf-8")


def _inlined(page: dict[str, Any], m: Material) -> dict[str, Any]:
    """Return style, script and data as they stand in the page, and a policy that allows these and nothing else."""
    evaluation, still = _evaluation(m.model, sum(len(own) for own in m.rows.leaves.values()))
    style, script = _source("style.css"), f"{evaluation}\n{_source('page.js')}"
    allowed = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'"
    )
    return {
        "style": Written(style), "script": Written(script), "json": Written(live.as_json(page["data"])),
        "policy": f"{allowed}; form-action 'none'", "still": still,
    }  # fmt: skip


def _evaluation(model: Any, leaves: int) -> tuple[str, str]:
    """Return the code that computes the model, as the export writes it; or nothing to compute with, and why."""
    nothing = "const CLASSES = [], trace = null;"
    if leaves > MOST_LIVE:
        return nothing, f"The model has {leaves} leaves: too many to move here."
    try:
        return to_javascript(model, trace=True), ""
    except ValueError as problem:
        return nothing, f"The model cannot be computed in a page: {problem}"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _visible(value: Any) -> Any:
    """Spell out what a browser would not show, or show in another order; what is HTML already stays."""
    return one_line(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _lines(text: str) -> Written:
    """Write text of several lines for HTML."""
    return Written("\n".join(html.escape(one_line(line)) for line in text.split("\n")))


def _markdown(value: Any) -> str:
    """Write what a template says: Markdown as it is, all else as text."""
    return value if isinstance(value, Written) else in_markdown(str(value))


def in_markdown(text: str) -> str:
    """Write text so that Markdown and HTML show it as it is."""
    text = html.escape(one_line(text), quote=False).translate(_SPECIAL)
    return _STARTS.sub(lambda start: f"{start[1]}&#{ord(start[2][0])};{start[2][1:]}", text)


def _fenced(text: Any) -> Written:
    """Write lines of code."""
    return Written(fenced("\n".join(one_line(line) for line in str(text).split("\n")), "text"))


def fenced(text: str, kind: str) -> str:
    """Put text between fences longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text}\n{fence}"


def _recipe(model: Any) -> dict[str, Any]:
    """Return versions, seed and search, the hash of the model's file, and the lines of Python that fit or use it."""
    decision = decision_of(model)
    saved = encoded((model if decision is None else decision).to_dict())
    facts = [("SHA-256 of the model file", hashlib.sha256(saved).hexdigest())]
    made = {} if decision is None else dict(decision.provenance)
    names = {"baconlogic": "baconlogic at fit", "numpy": "numpy at fit", "cases": "cases at fit",
             "distinct_rows": "distinct rows at fit", "columns": "columns at fit",
             "seed": "seed, drawn from random_state", "threshold": "threshold chosen by"}  # fmt: skip
    facts += [(name, _plain(made[key])) for key, name in names.items() if key in made]
    trees = made.get("trees")
    labels = decision.classes if decision is not None and len(decision.trees) > 1 else ("",)
    for label, each in zip(labels, trees if isinstance(trees, list) else [], strict=False):
        if isinstance(each, dict) and "search" in each:
            whose = f" ({cases.answer(label)})" if len(labels) > 1 else ""
            facts.append((f"search{whose}", f"{_plain(each['search'])}: {_plain(each.get('stopped', ''))}"))
    here = f"baconlogic {__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    facts.append(("this report made with", here))
    if decision is None:
        facts.append(("provenance", "a tree alone has none; a Decision keeps where it comes from"))
    return {"facts": facts, "code": _code(model)}


def _plain(value: Any) -> str:
    return number(value) if isinstance(value, float) else one_line(str(value))[:LONGEST]


def _code(model: Any) -> str:
    """Write the Python that makes and uses the model."""
    use = 'model = load("model.json")  # written by model.save("model.json")\n'
    again = 'report.report(model, X, y, path="report.html")'
    if not hasattr(model, "get_params"):
        kind = "predict" if decision_of(model) is not None else "evaluate"
        return f"from baconlogic import load, report\n\n{use}model.{kind}(X)\n{again}"
    usual = type(model)().get_params(deep=False)
    own = {name: value for name, value in model.get_params(deep=False).items() if repr(value) != repr(usual[name])}
    given = ", ".join(f"{name}={one_line(repr(value))[:LONGEST]}" for name, value in own.items())
    fit = f"model = {type(model).__name__}({given}).fit(X_train, y_train)"
    return f"from baconlogic import {type(model).__name__}, report\n\n{fit}\n{again}"
