"""A tree drawn for a terminal: codes, andness, words, weights and criteria."""

from __future__ import annotations

from baconlogic.criteria import Given
from baconlogic.nodes import Gate, Leaf, Node, Not


def draw(root: Node) -> str:
    """Draw a tree, one line a node, each input with its share of the gate above."""
    lines: list[str] = []
    waiting: list[tuple[Node, str, str, str]] = [(root, "", "", "")]  # node, first prefix, prefix below, weight
    while waiting:
        node, first, below, weight = waiting.pop()
        lines.append(f"{first}{weight}{say(node)}")
        shares = [f"{share:.2f}  " for share in node.weights] if isinstance(node, Gate) else [""]
        last = len(node.children) - 1
        waiting.extend(
            (child, below + ("└─ " if i == last else "├─ "), below + ("   " if i == last else "│  "), shares[i])
            for i, child in reversed(list(enumerate(node.children)))
        )
    return "\n".join(lines)


def say(node: Node) -> str:
    """Say one node without its inputs."""
    name = f"{node.name}: " if node.name else ""
    if isinstance(node, Gate):
        rule = "" if node.aggregator == "gcd" else f" ({node.aggregator})"
        return f"{name}{node.level.code} {node.andness:.2f}{rule}, {node.level.words}"
    if isinstance(node, Leaf):
        return name + (node.feature if node.criterion == Given() else node.criterion.words(node.feature))
    assert isinstance(node, Not)  # noqa: S101
    return f"{name}not"
