"""Names as strangers give them: what quotes, comments, keywords and markup of some language could be broken with."""

from baconlogic import Decision, Gate, Leaf, Tree
from baconlogic.core.criteria import Ramp, Table
from baconlogic.core.decision import Feature, Link

NAMES = [
    "it's",
    'say "x"',
    "back\\slash\\",
    "line\nbreak",
    "carriage\r\nreturn\ttab",
    "*/ end of comment",
    "/* start of comment",
    "// line comment \\",
    "-- sql comment",
    "# python comment",
    "??/ trigraph ??'",
    "</script><script>alert(1)</script>",
    "<!-- page -->",
    "'); DROP TABLE data; --",
    '"""doc"""',
    "'''doc'''",
    "{x} {{y}} ${z} %s %d %(a)s",
    "`tick` ${1+1}",
    "emoji \U0001f642 \U0001f468\u200d\U0001f469",
    "naïve façade Ærøskøbing",
    "\u03b1\u03c9 \u4e2d\u6587 \u05d0\u05d1",
    "control \x01\x07\x1b[31m\x7f",
    "separators \u2028 \u2029 \x85 \u200e",
    "more separators \x0b \x0c \x1c",
    "bidi \u202e \u2066 \u2069",
    "coding: raw_unicode_escape",
    "literal \\u000araise SystemExit(3) #",
    "]]> --> end of markup",
    "//# sourceMappingURL=data:,",
    "!TeX program = sh",
    "arara: sh",
    "@SUM(A1)",
    "class",
    "__proto__",
    "constructor",
    "1st",
    "x0",
    "a b",
    "a_b",
    " padded ",
    "=1+1",
    "\\input{x} $a_1^2$ 100% #1 &~^_{}",
    "n" * 300,
]

PLACES = ["class", "feature", "category", "node", "unit", "provenance"]
_ENDS = [
    "\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x85",
    "\u2028",
    "\u2029",
    "\\u000a",
    "\\U0000000a",
    "\\x0a",
    "\\n",
    "\\\n",
    "??/\n",
    "+AAo-",
]


def payload(code, start, end=""):
    """Return a name that holds `code` on a line of its own, if any end of a line, or of a comment, is taken for one."""
    return "".join(f"x{end}{each}{code}{each}{start}" for each in _ENDS)


def placed(place, text, said=""):
    """Return a decision with a text in one of PLACES; the name of its first class begins with `said`."""

    def at(where, plain):
        return text if where == place else plain

    kind = Leaf(at("feature", "kind"), Table({at("category", "a"): 1.0, "b": 0.0}, 0.25, 0.75), at("node", "named"))
    size = Leaf("size", Ramp([(0, 0), (10, 1)], missing=0.5, unit=at("unit", "kg")))
    columns = Feature(kind.feature, "category"), Feature("size", "number")
    classes = said + at("class", "no"), "yes"
    told = {"baconlogic": at("provenance", "0.1.0"), "cases": 10}
    return Decision((Tree(Gate([kind, size], "HC-", name=kind.name)),), (Link(4.0, 0.3),), classes, columns, told)
