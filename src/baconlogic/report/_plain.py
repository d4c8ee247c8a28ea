"""Markdown, LaTeX and HTML as plain text in which every character still knows where it stood; text as a block."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_BLOCKS = "p|div|li|ul|ol|br|hr|tr|table|thead|tbody|h[1-6]|blockquote|section|article|body|html|head|title"
_INLINE = "b|i|em|strong|code|span|a|u|sub|sup|small|td|th|tt|kbd|mark|img"
_MARKUP = re.compile(
    rf"""
    (?P<fence>^(?P<ticks>`{{3,}}|~{{3,}})[^\n]*\n(?:.*?\n)??\s*(?P=ticks)[^\n]*$)
  | (?P<block></?(?:{_BLOCKS})\b[^<>]*>)
  | (?P<inline></?(?:{_INLINE})\b[^<>]*>)
  | (?P<entity>&(?:[a-zA-Z]{{2,8}}|\#\d{{1,6}});)
  | (?P<line>\\\\)
  | (?P<item>\\item\b|^[ \t]*[*+•][ \t]+)
  | (?P<part>\\(?:begin|end)\{{[^{{}}]*\}}|\\(?:chapter|section|subsection|subsubsection|paragraph)\*?\{{|^\#+[ \t]*)
  | \\(?P<escaped>[_%&\#$*`{{}}\[\]()+-])
  | (?P<command>\\[a-zA-Z]+\*?[ \t]*\{{?)
  | (?P<rule>^[ \t]*\|?[ \t]*:?-{{3,}}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$|^[-=*_]{{3,}}[ \t]*$)
  | (?P<quote>^[ \t]*>[ \t]?)
  | (?P<mark>\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w))
  """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_CODED = re.compile(r"`([^`\n]{1,80})`|\\texttt\{((?:[^{}\\\n]|\\.){1,80})\}|<code>([^<\n]{1,80})</")
TYPED = str.maketrans(
    "\u2013\u2212\u2010\u2011\u2018\u2019\u201c\u201d\u00a0", "\u2014---''\"\" "
)  # as a keyboard has them
_BREAKS = {"fence": "\n\n", "block": "\n\n", "part": "\n\n", "line": "\n", "item": "\n- ", "rule": "\n"}


@dataclass(frozen=True)
class Plain:
    """Text without markup: `at[i]` is the place of its character i in the original."""

    text: str
    at: tuple[int, ...]
    coded: tuple[str, ...]  # what stood in code
    end: int

    def where(self, start: int, end: int) -> tuple[int, int]:
        """Return a stretch of the plain text as a stretch of the original."""
        if start >= len(self.at):
            return self.end, self.end
        return self.at[start], self.at[end - 1] + 1 if end > start else self.at[start]


def plain(text: str) -> Plain:
    """Take markup off; code blocks go as a whole, since they hold no sentences."""
    tex = re.search(r"\\[a-zA-Z]+\{", text) is not None
    characters: list[str] = []
    places: list[int] = []

    def put(said: str, start: int, *, same: bool) -> None:
        characters.extend(said)
        places.extend(range(start, start + len(said)) if same else [start] * len(said))

    last = 0
    for found in _MARKUP.finditer(text):
        put(text[last : found.start()], last, same=True)
        put(_replaced(found), found.start(), same=False)
        last = found.end()
    put(text[last:], last, same=True)
    kept = [i for i, c in enumerate(characters) if not (tex and c in "{}$")]
    return Plain(
        "".join(characters[i] for i in kept).translate(TYPED),
        tuple(places[i] for i in kept),
        _coded(text),
        len(text),
    )


def _coded(text: str) -> tuple[str, ...]:
    found = [next(part for part in each.groups() if part is not None) for each in _CODED.finditer(text)]
    return tuple(dict.fromkeys(re.sub(r"\\(.)", r"\1", each).strip() for each in found))


def _replaced(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    if found["fence"]:
        return _BREAKS["fence"]
    if kind == "escaped":
        return found["escaped"]
    return html.unescape(found[0])[:1] if kind == "entity" else _BREAKS.get(kind, "")


def fenced(text: str, kind: str) -> str:
    """Put text between fences longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text}\n{fence}"
