"""Claims about which features are used at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from baconlogic.core.levels import LEVELS
from baconlogic.core.words import one_line
from baconlogic.report._claims import candidates, claim
from baconlogic.report._words import COMMON, POPULATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from baconlogic.report._claims import Claim
    from baconlogic.report._knowledge import Knowledge
    from baconlogic.report._plain import Plain
    from baconlogic.report._sentences import Clause

_TOKEN = re.compile(r"(?<![\w.])[A-Za-z]\w*(?:\.\w+)*(?!\w)")
_LOOKS = re.compile(r"[A-Za-z]+[A-Za-z\d]*(?:_[A-Za-z\d]+)+")
_NUMBERED = re.compile(r"([A-Za-z_]{3,}?)_?\d{1,3}")
_UNUSED = re.compile(
    r"\b(?:not\s+(?:used|considered|included|(?:part\s+of|in)\s+the\s+(?:tree|model|decision|logic)|involved)|un(?:used|considered)|ignored|excluded|left\s+out|"
    r"plays?\s+no\s+(?:role|part)|does\s+not\s+(?:use|include|consider|appear|occur|enter)|(?:isn|aren|wasn)'t\s+(?:used|considered|included)|"
    r"has\s+no\s+(?:influence|effect|role)|without)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:data\s*set|column\s+names?|file|outcome|target|label|class|function|package|called)\b", re.IGNORECASE
)
_USED = (
    r"\b(?:features?|variables?|columns?|inputs?)\s+{name}\b|\b{name}\s+(?:\((?:weight|\d)|weighs\b|has\s+(?:a|the)\s+\w*\s*weight|"
    r"is\s+(?:the\s+)?(?:most|least|mandatory|sufficient|required|necessary|optional|used))"
)


class Names:
    """Which words of a report are names of columns, and which of those the tree does not have."""

    def __init__(self, known: Knowledge, text: Plain, columns: Sequence[str]) -> None:
        unused = [name for name in columns if name not in known.leaves]
        self.columns = {*unused, *(name.lower() for name in unused if len(name) > 2)}
        self.coded = set(text.coded) if any(name in known.leaves for name in text.coded) else set()
        self.own = set(known.features)
        self.lower = {name.lower() for name in known.features}
        self.stems = {stem[1].lower() for name in known.features if (stem := _NUMBERED.fullmatch(name))}
        self.other = known.words

    def is_strange(self, token: str, text: str) -> bool:
        """Whether a word is a column that the tree does not use."""
        word = token.lower()
        if word in self.lower or word in COMMON or word in self.other or token in LEVELS:
            return False
        looks = bool(_LOOKS.fullmatch(token)) or token in self.coded
        if token in self.columns or word in self.columns:
            used = re.compile(_USED.format(name=re.escape(token)), re.IGNORECASE)
            return looks or bool(_NUMBERED.fullmatch(token) or used.search(text))
        if any(token in name for name in self.own):
            return False  # a part of a longer name
        numbered = _NUMBERED.fullmatch(token)
        return looks or (numbered is not None and numbered[1].lower() in self.stems)


def names(clause: Clause, known: Knowledge, words: Names) -> Iterator[Claim]:
    """Check that the columns spoken of are used, and that those said to be unused are not."""
    unused = _UNUSED.search(clause.text)
    if not _UNUSED.search(clause.sentence.text) and not _ELSEWHERE.search(clause.text):
        for hit in _TOKEN.finditer(clause.text):
            if words.is_strange(hit[0], clause.text):
                features = ", ".join(one_line(name) for name in known.features[:8])
                more = ", ..." if len(known.features) > 8 else ""
                yield claim("feature", clause, hit, f"{hit[0]} is used", f"the tree uses {features}{more}", holds=False)
    if unused and unused[0].lower() != "without" and not clause.sentence.row and not POPULATION.search(clause.text):
        for name in next(iter(candidates(clause, unused.start(), unused.end())), []):
            yield claim(
                "feature",
                clause,
                unused,
                f"{one_line(name)}: {unused[0]}",
                f"the tree uses {one_line(name)}",
                holds=False,
            )
