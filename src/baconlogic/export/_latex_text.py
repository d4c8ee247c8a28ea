"""Any text as LaTeX sets it, whatever signs are in it, also with pdflatex and its oldest fonts."""

from __future__ import annotations

import unicodedata

from baconlogic.core.words import one_line

_UNBROKEN = 24  # letters of a name after which it may go on in the next line

_SPECIAL = {
    **{c: f"\\{c}" for c in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textquoteleft{}",
    '"': r"{\char34}",  # a letter to some languages of babel
    "-": "{-}",  # two of them, or two of the next, would melt into one sign
    "'": "{'}",
    "ß": r"{\ss}",
    "æ": r"{\ae}",
    "Æ": r"{\AE}",
    "œ": r"{\oe}",
    "Œ": r"{\OE}",
    "ø": r"{\o}",
    "Ø": r"{\O}",
    "ł": r"{\l}",
    "Ł": r"{\L}",
    "\u2013": "{--}",
    "\u2014": "{---}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": "{'}",
    "\u201c": "{``}",
    "\u201d": "{''}",
    "…": r"\dots{}",
}
_GREEK = (  # in the order of Unicode; an o is the letter itself, and a sigma at the end of a word is a sigma
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi o pi rho sigma sigma tau upsilon phi chi "
    "psi omega"
)
_CAPITALS = "gamma delta theta lambda xi pi sigma upsilon phi psi omega"
_MATHS = {
    **{chr(0x3B1 + i): f"\\{name}" if name != "o" else "o" for i, name in enumerate(_GREEK.split())},
    **{chr(0x391 + i): f"\\{name.title()}" for i, name in enumerate(_GREEK.split()) if name in _CAPITALS.split()},
    **{c: f"^{i}" for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{c: f"_{i}" for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    "\u00b5": r"\mu",
    "\u00d7": r"\times",
    "°": r"^\circ",
    "±": r"\pm",
    "·": r"\cdot",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0323": "d",
    "\u0327": "c",
}


def escaped(text: str) -> str:
    """Write text so that LaTeX sets it as it is; a sign that fonts may lack is told by its number, [U+1F642]."""
    found, unbroken, last = list[str](), 0, " "
    for sign in unicodedata.normalize("NFC", one_line(text)):
        unbroken = 0 if sign == " " else unbroken + 1
        found.append("\\ " if sign == last == " " else _sign(sign))
        if unbroken and unbroken % _UNBROKEN == 0:
            found.append("\\allowbreak{}")
        last = sign
    return "".join(found)


def _sign(sign: str) -> str:
    if sign in _MATHS:
        return f"\\ensuremath{{{_MATHS[sign]}}}"
    if sign in _SPECIAL or sign.isascii():
        return _SPECIAL.get(sign, sign)
    base, marks = unicodedata.normalize("NFD", sign)[:1], unicodedata.normalize("NFD", sign)[1:]
    if base.isascii() and base.isalpha() and marks in _ACCENTS:
        letter = f"\\{base}" if base in "ij" else base
        return f"\\{_ACCENTS[marks]}{{{letter}}}"
    return f"[U+{ord(sign):04X}]"
