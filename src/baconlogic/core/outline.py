"""A tree drawn for a terminal: codes, andness, words, weights and criteria."""

from __future__ import annotations

from baconlogic.core.criteria import Given
from baconlogic.core.nodes import Gate, Leaf, Node, Not
from baconlogic.core.words import one_line, percent


def draw(root: Node) -> str:
    """Draw a tree, one line a node, each input with its share of the gate above."""
    lines: list[str] = []
    waiting: list[tuple[Node, str, str, str]] = [(root, "", "", "")]  # node, first prefix, prefix below, weight
    while waiting:
        node, first, below, weight = waiting.pop()
        lines.append(f"{first}{weight}{one_line(say(node))}")
        if isinstance(node, Not) and isinstance(node.input, Leaf):
            continue  # said in one line with its leaf
        shares = [f"{percent(share)}  " for share in node.weights] if isinstance(node, Gate) else [""]
        last = len(node.children) - 1
        waiting.extend(
            (child, below + ("└─ " if i == last else "├─ "), below + ("   " if i == last else "│  "), shares[i])
            for i, child in reversed(list(enumerate(node.children)))
        )
    return "\n".join(lines)


def say(node: Node) -> str:
    """Say one node: a gate without its inputs, a negated leaf with its leaf."""
    name = f"{node.name}: " if node.name else ""
    if isinstance(node, Gate):
        rule = "" if node.aggregator == "gcd" else f" {node.aggregator}"
        return f"{name}{node.level.phrase} ({node.level.code}, andness {node.andness:.2f}{rule})"
    if isinstance(node, Not):
        return f"{name}not ({say(node.input)})" if isinstance(node.input, Leaf) else f"{name}not"
    assert isinstance(node, Leaf)  # noqa: S101
    given = node.criterion == Given()
    return name + (f"{node.feature} (a degree of truth)" if given else node.criterion.words(node.feature))
