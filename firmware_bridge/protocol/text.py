"""Calls and literals broken into lines as the project's formatter breaks them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

WIDTH: Final = 110


@dataclass(frozen=True, slots=True)
class Group:
    """`opens`, items between commas, `closes`."""

    opens: str
    items: tuple[Node, ...]
    closes: str


Node: TypeAlias = "str | Group"


def flat(node: Node) -> str:
    """On one line."""
    if isinstance(node, str):
        return node
    return node.opens + ", ".join(flat(item) for item in node.items) + node.closes


def broken(node: Node, indent: int = 0, after: str = "") -> str:
    """On one line where it fits, else one item a line."""
    line = " " * indent + flat(node) + after
    if isinstance(node, str) or len(line) <= WIDTH:
        return line
    inner = "\n".join(broken(item, indent + 4, ",") for item in node.items)
    closes = node.closes.removeprefix(",")  # of a tuple of one: the line above has its comma
    return " " * indent + node.opens + "\n" + inner + "\n" + " " * indent + closes + after


def group(opens: str, items: Sequence[Node], closes: str = ")") -> Group:
    """A `Group` of any sequence."""
    return Group(opens, tuple(items), closes)


def sums(before: str, sign: str, terms: Sequence[str], indent: int) -> list[str]:
    """Terms joined by an operator: on one line, on one in parentheses, or one a line."""
    pad = " " * indent
    joined = sign.join(terms)
    if len(pad + before + joined) <= WIDTH:
        return [pad + before + joined]
    if len(pad + joined) + 4 <= WIDTH:
        return [f"{pad}{before}(", f"{pad}    {joined}", f"{pad})"]
    more = [f"{pad}    {sign.strip()} {term}" for term in terms[1:]]
    return [f"{pad}{before}(", f"{pad}    {terms[0]}", *more, f"{pad})"]


def docstring(words: str, indent: int) -> list[str]:
    """A docstring of one or more paragraphs, wrapped."""
    pad = " " * indent
    paragraphs = [" ".join(part.split()) for part in words.strip().split("\n\n")]
    if len(paragraphs) == 1 and len(pad + paragraphs[0]) + 6 <= WIDTH:
        return [f'{pad}"""{paragraphs[0]}"""']
    lines = [
        "\n".join(textwrap.wrap(part, WIDTH - indent - (3 if number == 0 else 0), break_long_words=False))
        for number, part in enumerate(paragraphs)
    ]
    text = "\n\n".join(lines)
    whole = '"""' + text + ('"""' if len(paragraphs) == 1 else '\n"""')
    return textwrap.indent(whole, pad).split("\n")
