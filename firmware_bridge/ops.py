"""The operations of a table machine and their arguments: one table for host, simulator and firmware.

An operation names a goal ("the lid is open"), never a toggle. Numbers are wire values: they are
never reused for something else.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from firmware_bridge.errors import MessageError, UsageError

Value: TypeAlias = "int | tuple[int, ...]"
Args: TypeAlias = Mapping[str, Value]

PLACES: Final = 4
"""Fixed sides of a table. A three-player profile has zero stacks at the empty one."""

Quad: TypeAlias = "tuple[int, int, int, int]"
"""One number per place."""


class Op(IntEnum):
    """What a machine can be asked to do. The rules of when are in `interlock`."""

    ADOPT = 1
    START = 2
    RELEASE_INTAKE = 3
    OPEN_LID = 4
    CLOSE_LID = 5
    START_BUILD = 6
    RAISE_WALLS = 7
    DEAL = 8
    LOWER = 9
    ROLL_DICE = 10
    FLIP_INDICATOR = 11
    LAMP = 12
    HOME = 13
    JOG = 14
    CLEAR = 15
    """End a latched stop and the faults, after a person removed the cause."""
    RESUME = 16
    """Finish the motion that was cut; a new command of its own."""
    LEAVE = 17
    """End the hold without moving: a person finished or cleared it by hand."""

    @classmethod
    def of(cls, name: str | Op) -> Op:
        """The operation of this name.

        Raises:
            UsageError: no operation is called so.
        """
        if isinstance(name, Op):
            return name
        try:
            return cls[name]
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


ARGUMENTS: Final[Mapping[Op, tuple[Field, ...]]] = {
    Op.ADOPT: (Field("hand", "I"),),
    Op.RELEASE_INTAKE: (Field("hand", "I"),),
    Op.START_BUILD: (Field("mode", "B", default=0),),
    # Stacks per place; all zero stands for the walls of the machine's own profile.
    Op.RAISE_WALLS: (Field("stacks", "B", PLACES, (0, 0, 0, 0)),),
    # Tiles each place receives, the dealer's place, and where the walls are broken (place, stack).
    Op.DEAL: (
        Field("tiles", "B", PLACES),
        Field("dealer", "B", default=0),
        Field("opening", "B", 2, (0, 0)),
    ),
    Op.FLIP_INDICATOR: (Field("place", "B", default=0), Field("stack", "B", default=0)),
    Op.LAMP: (Field("place", "B"), Field("pattern", "B", default=1)),
    # `nobody` = 1: the person holding the service key confirms that nobody reaches into the table.
    Op.HOME: (Field("nobody", "B", default=0),),
    Op.JOG: (Field("axis", "B"), Field("steps", "h"), Field("nobody", "B", default=0)),
}

RESULTS: Final[Mapping[Op, tuple[Field, ...]]] = {
    Op.ROLL_DICE: (Field("dice", "B", 2),),
    Op.START_BUILD: (Field("stacks", "B", PLACES),),
    Op.RAISE_WALLS: (Field("stacks", "B", PLACES),),
    Op.DEAL: (Field("tiles", "B", PLACES),),
}
"""What CMD_DONE brings back, by operation."""


def _layout(fields: tuple[Field, ...]) -> struct.Struct:
    return struct.Struct("<" + "".join(f"{f.count}{f.code}" for f in fields))


def _flat(op: Op, field: Field, given: Value | None) -> tuple[int, ...]:
    if given is None:
        raise UsageError(f"{op.name} needs the argument {field.name!r}.")
    values = given if isinstance(given, tuple) else (given,)
    if len(values) != field.count:
        raise UsageError(f"{op.name}: {field.name!r} takes {field.count} number(s), not {len(values)}.")
    return values


def _pack(op: Op, fields: tuple[Field, ...], given: Mapping[str, object]) -> bytes:
    unknown = set(given) - {field.name for field in fields}
    if unknown:
        raise UsageError(f"{op.name} has no argument {min(unknown)!r}.")
    flat: list[int] = []
    for field in fields:
        raw = given.get(field.name, field.default)
        value: Value | None = tuple(raw) if isinstance(raw, list | tuple) else raw  # type: ignore[assignment]
        flat.extend(_flat(op, field, value))
    try:
        return _layout(fields).pack(*flat)
    except struct.error as error:
        raise UsageError(f"{op.name}: an argument is no number or out of range ({error}).") from None


def _unpack(fields: tuple[Field, ...], data: bytes) -> dict[str, Value]:
    layout = _layout(fields)
    if len(data) != layout.size:
        raise MessageError(f"Expected {layout.size} bytes of arguments, got {len(data)}.")
    flat = layout.unpack(data)
    values: dict[str, Value] = {}
    at = 0
    for field in fields:
        part = flat[at : at + field.count]
        values[field.name] = part[0] if field.count == 1 else part
        at += field.count
    return values


def pack_args(op: Op, given: Mapping[str, object]) -> bytes:
    """Arguments as wire bytes; absent ones take their default.

    Raises:
        UsageError: an unknown, missing or impossible argument.
    """
    return _pack(op, ARGUMENTS.get(op, ()), given)


def unpack_args(op: Op, data: bytes) -> dict[str, Value]:
    """Wire bytes as arguments.

    Raises:
        MessageError: the length does not fit the operation.
    """
    return _unpack(ARGUMENTS.get(op, ()), data)


def pack_result(op: Op, given: Mapping[str, object]) -> bytes:
    """The result of an operation as wire bytes (empty for most)."""
    return _pack(op, RESULTS.get(op, ()), given) if given else b""


def unpack_result(op: Op, data: bytes) -> dict[str, Value]:
    """Wire bytes as the result of an operation; no bytes mean no result.

    Raises:
        MessageError: the length does not fit the operation.
    """
    return _unpack(RESULTS.get(op, ()), data) if data else {}
