"""The words that `check_report` understands. What is not here is not checked."""

from __future__ import annotations

import re

from baconlogic.core.levels import LEVELS, NEUTRAL_ROLE

CODE = re.compile(
    r"(?<![\w+-])(?:"
    + "|".join(re.escape(code) for code in sorted(LEVELS, key=len, reverse=True))
    + r")(?![\w+])(?![-—]\w)"
)
LEVEL_NAMES = {level.name.replace("-", " "): level for level in LEVELS.values()}
LEVEL_NAME = re.compile(
    r"\b(?:"
    + "|".join(re.escape(level.name).replace(r"\-", "[- ]").replace(r"\ ", r"\s+") for level in LEVELS.values())
    + r")\b",
    re.IGNORECASE,
)
FAMILY_WORDS = {level.words: level.role for level in LEVELS.values() if level.role != NEUTRAL_ROLE}
WORDS = re.compile("|".join(rf"\b{words}\b".replace(" ", r"\s+") for words in FAMILY_WORDS), re.IGNORECASE)

NUMBER = r"(?<![\w.])(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?(?![\w/])"
SHARE = rf"(?P<number>{NUMBER})\s*(?P<percent>%|percent\b|per\s+cent\b)?"
ABOUT = r"(?:about|roughly|approximately|around|nearly|circa|some|~|≈)\s*"
NOT = re.compile(
    r"\b(?:not|never|no|neither|nor|n't|cannot|without|unlike|rather\s+than|instead\s+of|far\s+from|hardly|nothing|"
    r"none|would|were|if\s+it|unless)\b|n't\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(
    r";|,?\s\b(?:but|although|though|while|whereas|however|unlike|except|because|since|so\s+that|yet)\b|,\s(?=which\b)"
)
CARRIES = re.compile(
    r"\W*(?:and\s+)?(?:it|its|it's|this\s+(?:feature|variable|input|measurement|indicator)|this\s+is|which|not|is|has|weighs|carries|counts|must|with|"
    r"most|least|lower|higher|the\s+(?:most|least|highest|lowest|heaviest)|weight|significant|slightly|a)\b",
    re.IGNORECASE,
)
ROOT = re.compile(
    r"\b(?:root|top[- ]level|top\s+of\s+the\s+tree|topmost|(?:overall|final)\s+(?:operator|gate|aggregator)|"
    r"outermost)\b",
    re.IGNORECASE,
)
GROUPED = re.compile(
    r"\b(?:group|branch|path|part|subtree|gate|within|among|amongst|siblings?|children|these|those|here|step|of\s+the\s+(?:two|three|four|five))\b",
    re.IGNORECASE,
)
WHOLE = re.compile(
    r"\b(?:overall|of\s+all|of\s+the\s+(?:whole\s+)?(?:tree|model|decision)|in\s+the\s+(?:whole\s+)?(?:tree|model|decision)|in\s+total|altogether)\b",
    re.IGNORECASE,
)
_PEOPLE = (
    r"(?:patients?|cases|rows|people|persons?|applicants|customers|subjects|samples|records|women|men|study|studies|"
    r"cohort)"
)
POPULATION = re.compile(rf"\b{_PEOPLE}\b", re.IGNORECASE)
# How often something was seen: said of rows, not of the tree.
COUNTED = re.compile(
    rf"(?:%|\b(?:percent|most|few|fewer|many|half|some|all|\d+))\s+(?:of\s+)?(?:the\s+|all\s+)?(?:\w+\s+)?{_PEOPLE}\b"
    r"|\b(?:had|were|was)\b",
    re.IGNORECASE,
)
TOGETHER = re.compile(r"\b(?:together|combined|jointly|in\s+total|sum|summed|remaining|others?|rest)\b", re.IGNORECASE)
# Words of this module and of every report: as a name of a column they would be found everywhere.
COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        a an the i is it its in on at of or and not no yes all any some most more less than to for by as if be are
        was has have this that with from true false half missing other others none given exact high low large small
        higher lower larger smaller above below between weight weights share shares mean means group groups feature
        features tree model decision gate gates node root operator code level levels truth threshold value values
        mandatory sufficient optional desired neutral required necessary enough must nice one two three four five
        six seven eight nine ten number name class label outcome overall whole part when where which what increase
        decrease strong weak size shape score risk rank role about roughly alone both each every only same equal
        equally also input inputs data case cases
        """,
    )
)
COUNTS = {
    word: i
    for i, word in enumerate(
        re.findall(
            r"\w+", "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
        )
    )
}
