"""The one base of everything this room raises."""

from __future__ import annotations


class EngineError(ValueError):
    """Something handed to the engine is not usable; the message is one plain sentence with the fix."""


class MissingExtraError(EngineError):
    """A library that only some rule sets need is missing; `extra` is the optional part that brings it."""

    def __init__(self, extra: str, requirement: str) -> None:
        super().__init__(
            f"this needs the extra {extra}, and its library is not installed; "
            f"run pip install '{requirement}', or pip install -e '.[{extra}]' where the sources are."
        )
        self.extra = extra
