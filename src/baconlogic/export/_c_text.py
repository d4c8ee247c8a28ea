"""Text in C: names that any compiler takes, comments and literals that nothing in them can end."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 40  # characters of a name; C promises that 63 count
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue decltype default delete
do double dynamic_cast else enum explicit export extern false float for friend goto if imaginary import inline int long
module mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq
far huge i386 interface linux near pascal small unix vax errno assert isnan isinf isfinite isnormal signbit fpclassify
signgam stdin stdout stderr
"""
ENDS = r"\*(?=/)|/(?=\*)|\?(?=\?)"  # what ends a comment, begins another, or is the first half of a trigraph
KEYWORDS = frozenset(_KEYWORDS.split())  # of C and C++, and words that some header makes a macro of


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a C name for each name, all different: lower case, as macros are mostly written in upper case."""
    found: dict[str, None] = {}
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        start = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:_LONGEST].strip("_") or "column"
        start = f"x_{start}" if start[0].isdigit() else f"{start}_" if start in KEYWORDS else start
        tried, times = start, 1
        while tried in found:
            times += 1
            tried = f"{start.rstrip('_')}_{times}"
        found[tried] = None
    return list(found)


def literal(text: str) -> str:
    """Write text as a C string, in UTF-8; octal escapes have three digits, so no digit after them is taken in."""
    return '"' + "".join(_byte(byte) for byte in text.encode()) + '"'


def _byte(byte: int) -> str:
    char = chr(byte)
    if char in '"\\?':  # ? because two of them begin a trigraph
        return "\\" + char
    return char if 32 <= byte < 127 else f"\\{byte:03o}"


def comment(lines: Iterable[str]) -> str:
    """Write a comment of several lines, which are `commented`."""
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])
