"""Doors to libraries that price a hand for us. Each is an extra, imported only when a claim is judged.

A module here may name its library only inside a function: the engine starts, and lists its rule sets, without
any of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from engine.errors import MissingExtraError


def library(module: str, extra: str, requirement: str) -> ModuleType:
    """Import a library.

    Args:
        module: what to import, e.g. "MahjongGB".
        extra: the optional part of this project that brings it.
        requirement: what pip installs.

    Raises:
        MissingExtraError: it is not installed, or was built for another Python.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(extra, requirement) from None
