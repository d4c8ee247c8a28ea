"""Expressions of a program as sqlglot trees, and what the columns of a table become in each dialect.

Databases differ where values are not plain: NaN, text in a column of numbers, literals that are decimals rather than
floating point, products that are too small to hold. All of that is here; `sql` puts the pieces in order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

from sqlglot import Dialect, exp

from baconlogic.export._program import (
    All,
    Among,
    Check,
    Expr,
    If,
    Less,
    Missing,
    Num,
    Op,
    Past,
    Program,
    Raw,
    Ref,
    Test,
    unsupported,
)

ROW = "row_in"  # what the table is called inside: a column is read as row_in."name", so that a wrong name is an error
_SUM, _PRODUCT, _ATOM = range(3)  # how tightly a piece holds together
_OPERATORS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
_FUNCTIONS: dict[str, type[exp.Func]] = {"abs": exp.Abs, "exp": exp.Exp, "log": exp.Ln}
_EXTREMES: dict[str, type[exp.Func]] = {"min": exp.Least, "max": exp.Greatest}
_MOST = 40  # terms in one sum; databases limit how deep an expression may be
_PLAIN = re.compile("[a-z][0-9]+|refused|wrong")  # what no dialect takes for a word of its own


class Pieces:
    """Writes the pieces of a query in one dialect."""

    def __init__(self, dialect: str, made: Program) -> None:
        self.dialect = dialect
        self._rules = Dialect.get_or_raise(dialect)
        self._generator = self._rules.generator()
        self._inputs, self._checks = made.inputs, made.checks
        # inputs that must be degrees of truth; a "d" column is NULL where they are not
        self.bounded = sorted({check.input for check in made.checks if check.why == "outside"})
        self.typed = dialect != "sqlite" or not made.inputs  # else a column may hold what it must not
        self.checked = bool(made.checks) or not self.typed  # whether a row may have no answer

    def text(self, piece: exp.Expression) -> str:
        """Return a piece as text."""
        return str(self._generator.generate(piece, copy=False))

    @staticmethod
    def uses(piece: exp.Expression) -> set[str]:
        """Return the columns that a piece needs."""
        return {column.name for column in piece.find_all(exp.Column)}

    def named(self, piece: exp.Expression, name: str, *, quoted: bool = False) -> str:
        """Return a piece with a name: `piece AS name`; one that is not ours to choose is quoted."""
        return self.text(exp.Alias(this=piece, alias=_quoted(name) if quoted else self._identifier(name)))

    def column(self, name: str) -> exp.Expression:
        """Return a column of ours."""
        return exp.Column(this=self._identifier(name))

    def outside(self, name: str) -> exp.Expression:
        """Return a column of the table."""
        return exp.Column(this=_quoted(name), table=exp.to_identifier(ROW))

    def table(self, parts: Sequence[str]) -> str:
        """Return the table, called ROW from here on."""
        names = dict(zip(("this", "db", "catalog"), map(_quoted, reversed(parts)), strict=False))
        return self.text(exp.alias_(exp.Table(**names), ROW, table=True))

    def _identifier(self, name: str) -> exp.Identifier:
        return exp.to_identifier(name, quoted=not _PLAIN.fullmatch(name))

    # What a table holds

    def read(self, place: int) -> exp.Expression:
        """Return an input as a number, a text or a whole number; what is missing is NULL."""
        kind, column = self._inputs[place].kind, self.outside(self._inputs[place].feature)
        if self.dialect == "sqlite":  # any column may hold anything there
            right = _is_of(column.copy(), kind)
            return _case([(right, _cast(column, "double") if kind == "number" else column)], None)
        if kind == "text":
            said = _cast(column, "text")
            byte_by_byte = self.dialect in ("duckdb", "postgres")  # whatever the column takes for equal
            return exp.Collate(this=said, expression=_quoted("C")) if byte_by_byte else said
        if kind == "number":
            return self._known(_cast(column, "double"), "double")
        if self.dialect == "postgres":  # nothing but text can be made of numbers and of true and false alike
            said = _cast(column, "text")
            found = exp.Case(this=said.copy(), default=_cast(said, "decimal"))
            return self._known(found.when(_string("true"), _whole(1)).when(_string("false"), _whole(0)), "decimal")
        if self.dialect == "duckdb":
            number = exp.NEQ(this=_cast(column, "double"), expression=_cast(_string("NaN"), "double"))
            return _case([(number, column.copy())], None)
        return column

    def _known(self, value: exp.Expression, kind: str) -> exp.Expression:
        """Return a number, NULL where it is NaN; where there are such, NaN = NaN is true."""
        has_nan = self.dialect in ("duckdb", "postgres")
        return exp.Nullif(this=value, expression=_cast(_string("NaN"), kind)) if has_nan else value

    def nothing(self) -> exp.Expression:
        """Return a value for a query that reads none."""
        return _whole(1)

    def wrong(self) -> exp.Expression:
        """Return 1 where a value is of a type that it must not be, else 0."""
        known = [_is_of(self.outside(each.feature), each.kind, "null") for each in self._inputs]
        return self._flag([exp.Not(this=test) for test in known])

    def refused(self) -> exp.Expression:
        """Return 1 for rows that have no answer, else 0."""
        tests = [test for check in self._checks for test in self._fails(check)]
        return self._flag(tests if self.typed else [*tests, self._equals("wrong", 1)])

    def _flag(self, tests: list[exp.Expression]) -> exp.Expression:
        return _case([(self._chain(exp.Or, tests), _whole(1))], _whole(0))

    def _equals(self, column: str, number: int) -> exp.Expression:
        return exp.EQ(this=self.column(column), expression=_whole(number))

    def _fails(self, check: Check) -> list[exp.Expression]:
        x = self.column(f"x{check.input}")
        if check.why == "missing":
            return [self.test(Missing(check.input))]
        if check.why == "outside":
            return [exp.LT(this=x, expression=self._number(0.0)), exp.GT(this=x.copy(), expression=self._number(1.0))]
        if check.why == "unlisted":
            return [exp.Not(this=self.test(Among(check.input, check.categories)))]
        return unsupported("SQL", check)

    def bound(self, place: int) -> exp.Expression:
        """Return a degree of truth, NULL where it is none: nothing is worked out of what could overflow."""
        x = self.column(f"x{place}")
        return _case([(exp.Between(this=x, low=self._number(0.0), high=self._number(1.0)), x.copy())], None)

    # Arithmetic

    def value(self, value: Expr) -> exp.Expression:
        """Return an expression, in floating point whatever the literals in it are."""
        made = self._value(value)
        return made if self.dialect == "sqlite" or _floats(value) else _cast(made, "double")

    def _value(self, value: Expr) -> exp.Expression:
        if isinstance(value, Num):
            return self._number(value.value)
        if isinstance(value, Ref):
            return self.column(value.name)
        if isinstance(value, Raw):
            return self.column(f"{'d' if value.input in self.bounded else 'x'}{value.input}")
        if isinstance(value, Past):
            return self._past(value)
        if isinstance(value, Op):
            return self._op(value)
        pairs = []
        while isinstance(value, If):  # one whose "else" is another "if" is one CASE with several WHEN
            pairs.append((self.test(value.test), self._value(value.then)))
            value = value.otherwise
        return _case(pairs, self._value(value)) if pairs else unsupported("SQL", value)

    def _past(self, value: Past) -> exp.Expression:
        x = self._value(Raw(value.input))
        if value.mark == 0.0:
            return x
        sign = exp.Add if value.mark < 0.0 else exp.Sub
        return sign(this=x, expression=self._number(abs(value.mark)))

    def _number(self, value: float) -> exp.Expression:
        digits = repr(abs(value))
        if self.dialect == "duckdb" and "e" not in digits and len(digits) > 16:
            digits += "e0"  # else it is a decimal, and the last digit changes on the way to a double
        made = exp.Literal.number(digits)
        return exp.Neg(this=made) if value < 0.0 else made

    def _op(self, value: Op) -> exp.Expression:
        if value.op == "-" and value.args[0] == Num(0.0):
            return exp.Neg(this=_held(self._value(value.args[1]), _ATOM))
        if value.op == "*" and self.dialect == "postgres":
            return self._product(value)
        args = [self._value(arg) for arg in value.args]
        if value.op in _OPERATORS:
            return self._chain(_OPERATORS[value.op], args)
        if value.op in _EXTREMES:
            return self._extreme(_EXTREMES[value.op], args)
        if value.op == "expm1":
            return self._expm1(args[0])
        return _FUNCTIONS[value.op](this=args[0]) if value.op in _FUNCTIONS else unsupported("SQL", value)

    def _product(self, value: Op) -> exp.Expression:
        """Return a product that is 0 where it is too small to hold; PostgreSQL would end the query there."""
        made = self._chain(exp.Mul, [self._value(arg) for arg in value.args])
        factor, other = value.args
        if not isinstance(factor, Num) or factor.value == 0.0 or not _tiny(other, factor.value):
            return made
        most = math.floor(1 / (2 * abs(Fraction(factor.value))))  # in steps of the smallest number there is
        if most == 0:
            return made
        lost = exp.LTE(this=exp.Abs(this=self._value(other)), expression=self._number(math.ldexp(most, -1074)))
        return _case([(lost, self._number(0.0))], made)

    def _expm1(self, x: exp.Expression) -> exp.Expression:
        """Return tanh(x / 2) (exp(x) + 1), which is precise near 0, and x where both are the same."""
        half = exp.func("TANH", self._chain(exp.Div, [x, self._number(2.0)]))
        grown = exp.Add(this=exp.Exp(this=x.copy()), expression=self._number(1.0))
        made = self._chain(exp.Mul, [half, grown])
        near = exp.LT(this=exp.Abs(this=x.copy()), expression=self._number(1e-18))
        return _case([(near, x.copy())], made)

    def _extreme(self, kind: type[exp.Func], args: list[exp.Expression]) -> exp.Expression:
        parts = [args[i : i + _MOST] for i in range(0, len(args), _MOST)]
        ignore = self.dialect != "sqlite" and self._rules.LEAST_GREATEST_IGNORES_NULLS  # no NULL comes here: as it is
        made = [kind(this=part[0], expressions=part[1:], ignore_nulls=ignore) for part in parts]
        return made[0] if len(made) == 1 else self._extreme(kind, list[exp.Expression](made))

    def test(self, test: Test) -> exp.Expression:
        """Return a test."""
        if isinstance(test, Less):
            left, right = test.sides()
            return exp.LT(this=self._value(left), expression=self._value(right))
        if isinstance(test, All):
            return self._chain(exp.And, [self.test(each) for each in test.tests])
        if not isinstance(test, Missing | Among):
            return unsupported("SQL", test)
        x = self.column(f"x{test.input}")
        if isinstance(test, Missing):
            return exp.Is(this=x, expression=exp.null())
        listed = [_string(each) if isinstance(each, str) else _whole(int(each)) for each in test.categories]
        return exp.In(this=x, expressions=listed)

    def _chain(self, kind: type[exp.Binary], args: list[exp.Expression]) -> exp.Expression:
        """Return a + b + ... as it stands, or in groups where it is long."""
        if len(args) > _MOST:
            groups = [self._chain(kind, args[i : i + _MOST]) for i in range(0, len(args), _MOST)]
            return self._chain(kind, [exp.Paren(this=group) for group in groups])
        level = _level(kind)
        made = _held(args[0], level)
        for arg in args[1:]:
            made = kind(this=made, expression=_held(arg, level + 1))
            if kind is exp.Div:  # of floating point numbers, as in the dialect itself: nothing to be cast
                made.set("typed", self._rules.TYPED_DIVISION)
                made.set("safe", self._rules.SAFE_DIVISION)
        return made

    # Answers

    def answer(self, name: str) -> exp.Expression:
        """Return a column of ours, NULL in rows that have no answer."""
        value = self.column(name)
        return _case([(self._equals("refused", 0), value)], None) if self.checked else value

    def label(self, choice: str, labels: Sequence[object]) -> exp.Expression:
        """Return the class that was chosen, as text, a number or true and false: what all labels are."""
        texts = any(isinstance(label, str) for label in labels) or len({type(x) is bool for x in labels}) > 1
        said = str if len({str(label) for label in labels}) == len(labels) else repr  # 1 and "1"
        written = [_string(said(label)) if texts else self._literal(label) for label in labels]
        if any(isinstance(label, float) for label in labels) and not texts:
            written = [_cast(each, "double") for each in written]
        known = [self._equals("refused", 0)] if self.checked else []
        tests = [self._chain(exp.And, [*known, self._equals(choice, k)]) for k in range(len(written))]
        return _case(list(zip(tests, written, strict=True)), None)

    def _literal(self, label: object) -> exp.Expression:
        if isinstance(label, bool):
            return exp.Boolean(this=label)
        return _whole(label) if isinstance(label, int) else self._number(float(str(label)))


def _floats(value: Expr) -> bool:
    """Whether a column is in what a value is worked out of, tests apart."""
    if isinstance(value, If):
        return _floats(value.then) or _floats(value.otherwise)
    return isinstance(value, Ref | Raw | Past) or (isinstance(value, Op) and any(map(_floats, value.args)))


def _tiny(value: Expr, factor: float) -> bool:
    """Whether a value may be so small that a product with the factor cannot be held."""
    match value:
        case _ if abs(factor) < 1e-20:
            return True
        case Past(_, mark) | Op("-", (_, Num(mark))):
            return abs(mark) < 1e-200
        case Op("abs", (inner,)):
            return _tiny(inner, factor)
        case If(_, then, otherwise):
            return _tiny(then, factor) or _tiny(otherwise, factor)
    return not (isinstance(value, Num) or (isinstance(value, Op) and value.op in ("exp", "log")))


def _cast(piece: exp.Expression, kind: str) -> exp.Expression:
    return exp.Cast(this=piece, to=exp.DataType(this=exp.DataType.Type[kind.upper()]))


def _case(pairs: Sequence[tuple[exp.Expression, exp.Expression]], otherwise: exp.Expression | None) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=test, true=then) for test, then in pairs], default=otherwise)


def _is_of(column: exp.Expression, kind: str, *also: str) -> exp.Expression:
    """Return the test whether SQLite holds a value of a kind there."""
    types = [*(["text"] if kind == "text" else ["integer", "real"]), *also]
    return exp.In(this=exp.func("TYPEOF", column), expressions=[_string(each) for each in types])


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _string(text: str) -> exp.Expression:
    return exp.Literal.string(text)


def _whole(number: int) -> exp.Expression:
    made = exp.Literal.number(abs(number))
    return exp.Neg(this=made) if number < 0 else made


def _level(kind: type[exp.Expression]) -> int:
    if issubclass(kind, exp.Connector):
        return -1
    return _SUM if kind in (exp.Add, exp.Sub) else _PRODUCT if kind in (exp.Mul, exp.Div, exp.Neg) else _ATOM


def _held(piece: exp.Expression, least: int) -> exp.Expression:
    """Return a piece in parentheses when it holds together less than it must: rounding is part of the formula."""
    return piece if least < 0 or _level(type(piece)) >= least else exp.Paren(this=piece)
