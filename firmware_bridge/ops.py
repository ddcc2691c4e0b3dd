"""The operations of a table machine and their arguments, as bytes and back.

An operation names a goal ("the lid is open"), never a toggle. The tables are generated
from protocol/protocol.toml.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from firmware_bridge.errors import MessageError, UsageError
from firmware_bridge.layout import Args, Field, Quad, Value
from firmware_bridge.wire.arguments import ARGUMENTS, RESULTS
from firmware_bridge.wire.enums import PLACES, TIMEOUT_OPS, Op

__all__ = [
    "ARGUMENTS",
    "PLACES",
    "RESULTS",
    "TIMEOUT_OPS",
    "Args",
    "Field",
    "Op",
    "Quad",
    "Value",
    "pack_args",
    "pack_result",
    "unpack_args",
    "unpack_result",
]


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
