"""The one base of everything this room raises."""

from __future__ import annotations


class EngineError(ValueError):
    """Something handed to the engine is not usable; the message is one plain sentence with the fix."""
