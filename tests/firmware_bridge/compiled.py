"""The portable part of the firmware as a shared library, so that a test can ask C and Python the same."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from firmware_bridge.protocol.definition import Definition, FieldDef, StructDef
from tests.required import go_without

ROOT = Path(__file__).parents[2]
CORE = ROOT / "firmware_bridge" / "firmware" / "core"
FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wconversion")


def library(sources: Sequence[Path], *, more: str = "", include: Sequence[Path] = (CORE,)) -> ctypes.CDLL:
    """The library of these sources and of the C text `more`; compiled anew only when one of them changed."""
    compiler = shutil.which(os.environ.get("CC", "gcc"))
    if compiler is None:
        go_without("gcc", "no C compiler: install gcc")
    headers = sorted(header for folder in include for header in folder.glob("*.h"))
    texts = [path.read_bytes() for path in (*sources, *headers)]
    name = hashlib.sha256(b"\0".join([*texts, more.encode(), " ".join(FLAGS).encode()])).hexdigest()[:24]
    folder = ROOT / "build" / "tests"
    target = folder / f"{name}.so"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            extra = Path(scratch, "more.c")
            extra.write_text(more, "utf-8")
            made = Path(scratch, "made.so")
            paths = [f"-I{path}" for path in include]
            subprocess.run(
                [compiler, *FLAGS, *paths, "-o", str(made), *map(str, sources), str(extra)], check=True
            )
            made.replace(target)  # whole or not at all, when two runs compile it
    return ctypes.CDLL(str(target))


_NUMBERS = {
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "i16": ctypes.c_int16,
    "bool": ctypes.c_bool,
    "enum": ctypes.c_uint8,
    "flags": ctypes.c_uint16,
}


_STRUCTURES: dict[str, type[ctypes.Structure]] = {}


def structure(d: Definition, struct: StructDef) -> type[ctypes.Structure]:
    """The C struct of a message or part, with the names that protocol.h gives its fields."""
    if struct.name in _STRUCTURES:
        return _STRUCTURES[struct.name]
    fields: list[tuple[str, object]] = []
    for field, bit in struct.values():
        if bit:
            fields.append((bit, ctypes.c_bool))
            continue
        if struct.gate(field):
            fields.append((f"has_{field.name}", ctypes.c_bool))
        fields += _members(d, field)
    made = type(struct.name, (ctypes.Structure,), {"_fields_": fields})
    _STRUCTURES[struct.name] = made
    return made


def _members(d: Definition, field: FieldDef) -> list[tuple[str, object]]:
    match field.kind:
        case "u64":
            return [(field.name, ctypes.c_uint8 * 8)]
        case "ascii":
            # Not c_char: reading that would end at the first 00.
            return [(field.name, ctypes.c_uint8 * field.count)]
        case "struct":
            return [(field.name, structure(d, d.structs[field.of]))]
        case "tail":
            item: object = ctypes.c_uint8
        case "list" if field.of in d.structs:
            item = structure(d, d.structs[field.of])
        case "list":
            item = ctypes.c_uint8
        case kind:
            number = _NUMBERS[kind]
            return [(field.name, number * field.count if field.count > 1 else number)]
    return [(field.name, ctypes.POINTER(item)), (f"{field.name}_len", ctypes.c_uint8)]  # type: ignore[arg-type]
