"""Which file holds what, and whether it is what the definition says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from firmware_bridge.protocol import c_code, c_rules, page, python_code, python_rules
from firmware_bridge.protocol.definition import Definition

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = "docs/protocol.md"


def generate(d: Definition, root: Path = ROOT) -> Mapping[str, str]:
    """The text of every generated file, by its path under `root`."""
    core = "firmware_bridge/firmware/core"
    wire = "firmware_bridge/wire"
    return {
        f"{wire}/enums.py": python_code.enums(d),
        f"{wire}/arguments.py": python_code.arguments(d),
        f"{wire}/rules.py": python_rules.rules(d),
        f"{wire}/messages.py": python_code.messages(d),
        f"{core}/protocol.h": c_code.protocol_h(d),
        f"{core}/protocol.c": c_code.protocol_c(d),
        f"{core}/rules.h": c_rules.rules_h(d),
        f"{core}/rules.c": c_rules.rules_c(d),
        PAGE: page.fill((root / PAGE).read_text("utf-8"), d),
    }


def drifted(d: Definition, root: Path = ROOT) -> list[str]:
    """Paths of files that are not what the definition says."""
    return [
        path
        for path, text in generate(d, root).items()
        if not (root / path).is_file() or (root / path).read_text("utf-8") != text
    ]


def write(d: Definition, root: Path = ROOT) -> list[str]:
    """Write what drifted; its paths."""
    texts = generate(d, root)
    paths = drifted(d, root)
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(texts[path], "utf-8", newline="\n")
    return paths
