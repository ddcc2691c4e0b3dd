"""The definition, read and checked."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path(__file__).with_name("protocol.toml")

FRAME_OVERHEAD: Final = 6
"""Header and check sum of a frame, bytes."""

_SIZES: Final = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i16": 2, "bool": 1, "bits16": 2}
_NO_MEANING: Final = frozenset({"doc", "c", "module"})
"""Keys that do not count for the schema hash: the same bytes mean the same without them."""


class DefinitionError(Exception):
    """The definition contradicts itself; the message says where."""


@dataclass(frozen=True, slots=True)
class Member:
    """One value of an enumeration."""

    name: str
    value: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class EnumDef:
    """An enumeration; `flags` is the type of its number when members can be combined."""

    name: str
    c: str
    doc: str
    members: tuple[Member, ...]
    flags: str = ""

    def value(self, member: str) -> int:
        """The number of a member.

        Raises:
            DefinitionError: there is none of this name.
        """
        for one in self.members:
            if one.name == member:
                return one.value
        raise DefinitionError(f"{self.name} has no member {member!r}.")


@dataclass(frozen=True, slots=True)
class FieldDef:
    """A field of a message, struct, argument list or result. `kind` is the type without its parameter."""

    name: str
    kind: str
    of: str = ""
    count: int = 1
    doc: str = ""
    none: int | None = None
    default: Any = None
    constant: str = ""
    most: int = 0
    bits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StructDef:
    """A message or a part of one. `module`: a part whose Python class is written by hand there."""

    name: str
    c: str
    doc: str
    fields: tuple[FieldDef, ...]
    module: str = ""
    kind: int = -1
    wire: str = ""
    reply: str = ""

    @property
    def from_device(self) -> bool:
        """It is a message of the device."""
        return bool(self.kind & 0x80)

    @property
    def fixed(self) -> tuple[FieldDef, ...]:
        """Fields of constant size, in wire order."""
        return tuple(f for f in self.fields if f.kind not in ("list", "tail"))

    @property
    def lists(self) -> tuple[FieldDef, ...]:
        """Counted lists, in wire order."""
        return tuple(f for f in self.fields if f.kind == "list")

    @property
    def tail(self) -> FieldDef | None:
        """The field that takes the rest of the bytes."""
        return next((f for f in self.fields if f.kind == "tail"), None)

    def field(self, name: str) -> FieldDef:
        """The field of this name."""
        return next(f for f in self.fields if f.name == name)

    def gate(self, field: FieldDef) -> bool:
        """Whether a bit says that this field is there."""
        return any(field.name in other.bits for other in self.fields)

    def values(self) -> Iterator[tuple[FieldDef, str]]:
        """The values a reader sees, in order: (field, "") or, for a bit by itself, (bits field, its name)."""
        names = {f.name for f in self.fields}
        for field in self.fields:
            if field.kind == "bits16":
                for bit in field.bits:
                    yield (self.field(bit), "") if bit in names else (field, bit)
            elif not self.gate(field):
                yield field, ""


@dataclass(frozen=True, slots=True)
class Definition:
    """All of it. `raw` is the parsed data; `schema` the first four bytes of the SHA-256 of its meaning."""

    raw: Mapping[str, Any]
    schema: int
    stop: bytes
    enums: Mapping[str, EnumDef]
    arguments: Mapping[str, tuple[FieldDef, ...]]
    results: Mapping[str, tuple[FieldDef, ...]]
    structs: Mapping[str, StructDef]
    messages: tuple[StructDef, ...]

    def limit(self, name: str) -> int:
        """A number of the section `limits`."""
        return int(self.raw["limits"][name]["value"])

    @property
    def max_payload(self) -> int:
        """Bytes of payload that fit a frame."""
        return self.limit("MAX_FRAME") - FRAME_OVERHEAD

    @property
    def timeouts(self) -> tuple[str, ...]:
        """Operations whose timeout is configured."""
        return tuple(self.raw["config"]["timeouts"])

    def size(self, field: FieldDef) -> int:
        """Bytes of one field; a list counts its count only, a tail nothing."""
        match field.kind:
            case "enum" | "list":
                return 1
            case "flags":
                return _SIZES[self.enums[field.of].flags]
            case "ascii":
                return field.count
            case "struct":
                return self.head(self.structs[field.of])
            case "tail":
                return 0
            case kind:
                return _SIZES[kind] * field.count

    def head(self, struct: StructDef) -> int:
        """Bytes of a struct without list items and tail."""
        return sum(self.size(f) for f in struct.fields)

    def item(self, field: FieldDef) -> int:
        """Bytes of one item of a list."""
        return self.head(self.structs[field.of]) if field.of in self.structs else 1

    def most(self, struct: StructDef) -> int:
        """Bytes of a struct with full lists, without a tail."""
        return self.head(struct) + sum(f.most * self.item(f) for f in struct.lists)

    def message(self, wire: str) -> StructDef:
        """The message of this name on the wire."""
        return next(m for m in self.messages if m.wire == wire)


def load(source: Path = SOURCE) -> Definition:
    """Read the definition.

    Raises:
        DefinitionError: it names what does not exist, uses a number twice or has a message too long.
    """
    raw = tomllib.loads(source.read_text("utf-8"))
    definition = Definition(
        raw=raw,
        schema=schema_of(raw),
        stop=bytes.fromhex(raw["stop"]["bytes"]),
        enums={name: _enum(name, data) for name, data in raw["enums"].items()},
        arguments={op: tuple(_field(f) for f in fields) for op, fields in raw["arguments"].items()},
        results={op: tuple(_field(f) for f in fields) for op, fields in raw["results"].items()},
        structs={
            name: StructDef(name, d["c"], d["doc"], tuple(map(_field, d["fields"])), d.get("module", ""))
            for name, d in raw["structs"].items()
        },
        messages=tuple(_message(data) for data in raw["messages"]),
    )
    _check(definition)
    return definition


def schema_of(raw: Mapping[str, Any]) -> int:
    """Hash of all that has a meaning on the wire: words of explanation and names in C do not count."""
    canonical = json.dumps(_meaning(raw), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return int.from_bytes(hashlib.sha256(canonical.encode("ascii")).digest()[:4], "big")


def _meaning(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _meaning(inner) for key, inner in value.items() if key not in _NO_MEANING}
    if isinstance(value, list):
        return [_meaning(inner) for inner in value]
    return value


def _enum(name: str, data: Mapping[str, Any]) -> EnumDef:
    members = tuple(Member(m["name"], m["value"], m.get("doc", "")) for m in data["members"])
    return EnumDef(name, data["c"], data["doc"], members, data.get("flags", ""))


def _field(data: Mapping[str, Any]) -> FieldDef:
    kind, of, count = data["type"], "", 1
    if kind == "quad":
        kind = "u8[4]"
    if ":" in kind:
        kind, of = kind.split(":")
    elif found := re.fullmatch(r"(\w+)\[(\d+)\]", kind):
        kind, count = found[1], int(found[2])
    return FieldDef(
        data["name"],
        kind,
        of,
        count,
        data.get("doc", ""),
        data.get("none"),
        data.get("default"),
        data.get("constant", ""),
        data.get("max", 0),
        tuple(data.get("bits", ())),
    )


def _message(data: Mapping[str, Any]) -> StructDef:
    return StructDef(
        data["name"],
        data["wire"].lower(),
        data["doc"],
        tuple(map(_field, data["fields"])),
        "",
        data["kind"],
        data["wire"],
        data.get("reply", ""),
    )


def _check(d: Definition) -> None:
    for enum in d.enums.values():
        _unique(enum.name, [m.name for m in enum.members])
        _unique(enum.name, [m.value for m in enum.members])
    _unique("messages", [m.kind for m in d.messages])
    _unique("messages", [m.wire for m in d.messages])
    wires = {m.wire: m for m in d.messages}
    for message in d.messages:
        if message.reply and (message.from_device or not wires[message.reply].from_device):
            raise DefinitionError(f"{message.wire}: a reply goes from the device to the host.")
        if d.most(message) > d.max_payload:
            raise DefinitionError(
                f"{message.wire} has {d.most(message)} bytes; a frame takes {d.max_payload}."
            )
        _check_fields(d, message)
    for struct in d.structs.values():
        _check_fields(d, struct)
    _check_rules(d)


def _check_fields(d: Definition, struct: StructDef) -> None:
    _unique(struct.name, [f.name for f in struct.fields])
    for field in struct.fields:
        known = {**d.enums, **d.structs}
        if field.of and field.of not in known:
            raise DefinitionError(f"{struct.name}.{field.name}: there is no {field.of!r}.")
    if sum(f.kind in ("u16", "u32") and f.count > 1 for f in struct.fields) > 1:
        raise DefinitionError(f"{struct.name}: one array of numbers of more than a byte, no more.")
    order = [("list", "tail").index(f.kind) + 1 if f.kind in ("list", "tail") else 0 for f in struct.fields]
    if order != sorted(order) or (struct.lists and struct.tail):
        raise DefinitionError(f"{struct.name}: what has no constant size stands last.")


def _check_rules(d: Definition) -> None:
    ops, faults = d.enums["Op"], d.enums["Fault"]
    if set(d.raw["rules"]) != {m.name for m in ops.members}:
        raise DefinitionError("Every operation has exactly one rule.")
    if set(d.raw["blocks"]) != {m.name for m in faults.members}:
        raise DefinitionError("Every fault says which operations it blocks.")
    named = [*d.arguments, *d.results, *d.timeouts, *(e["op"] for e in d.raw["effects"])]
    for rule in d.raw["rules"].values():
        named += rule.get("not_during", [])
        named += [op for case in rule.get("cases", []) for op in case.get("cut", [])]
    for op in [*named, *(op for blocked in d.raw["blocks"].values() for op in blocked)]:
        ops.value(op)
    if len(d.timeouts) != d.structs["BoardConfig"].field("timeouts").count:
        raise DefinitionError("BoardConfig has another number of timeouts than the list of their operations.")


def _unique(where: str, values: list[Any]) -> None:
    twice = {value for value in values if values.count(value) > 1}
    if twice:
        raise DefinitionError(f"{where}: {min(twice)!r} stands there twice.")
