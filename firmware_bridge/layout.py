"""What the generated modules in `wire` are made with: arguments, packed numbers, operations by name."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Self, TypeAlias

from firmware_bridge.errors import MessageError, UsageError

Value: TypeAlias = "int | tuple[int, ...]"
Args: TypeAlias = Mapping[str, Value]

Quad: TypeAlias = "tuple[int, int, int, int]"
"""One number per place."""


class Named(IntEnum):
    """An enumeration of operations."""

    @classmethod
    def of(cls, name: str | Self) -> Self:
        """The operation of this name.

        Raises:
            UsageError: no operation is called so.
        """
        if isinstance(name, cls):
            return name
        try:
            return cls[str(name)]
        except KeyError:
            raise UsageError(
                f"No operation is called {name!r}; use one of {', '.join(cls.__members__)}."
            ) from None


@dataclass(frozen=True, slots=True)
class Field:
    """One argument: its name, struct code, how many of them, and the value when left out.

    `default` None means the argument must be given.
    """

    name: str
    code: str
    count: int = 1
    default: Value | None = None


def unpack(layout: struct.Struct, data: bytes) -> tuple[Any, ...]:
    """The numbers in `data`.

    Raises:
        MessageError: `data` has another length than the layout.
    """
    if len(data) != layout.size:
        raise MessageError(f"Expected {layout.size} bytes of payload, got {len(data)}.")
    return layout.unpack(data)


def split(layout: struct.Struct, data: bytes) -> tuple[tuple[Any, ...], bytes]:
    """The numbers at the beginning of `data`, and the rest.

    Raises:
        MessageError: `data` is shorter than the layout.
    """
    return unpack(layout, data[: layout.size]), data[layout.size :]


def bits(*on: bool) -> int:
    """A number with bit n set where the n-th is true."""
    return sum(1 << n for n, is_on in enumerate(on) if is_on)


def items(data: bytes, *lists: tuple[int, int]) -> list[list[bytes]]:
    """`data` cut into lists, each given as (how many, bytes of one).

    Raises:
        MessageError: the length is not what the counts ask for.
    """
    if len(data) != sum(count * size for count, size in lists):
        raise MessageError(f"The {len(data)} bytes of its lists are not what the counts ask for.")
    cut: list[list[bytes]] = []
    at = 0
    for count, size in lists:
        cut.append([data[at + n * size : at + (n + 1) * size] for n in range(count)])
        at += count * size
    return cut


def text(raw: bytes) -> str:
    """ASCII text that was filled up with 00."""
    return raw.rstrip(b"\x00").decode("ascii")
