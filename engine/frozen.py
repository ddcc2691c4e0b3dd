"""A mapping that cannot be changed and can be hashed, so that values which hold one are values too."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TypeVar, overload

V = TypeVar("V")
D = TypeVar("D")


class FrozenMap(Mapping[str, V]):
    """Names and values, in the order given; equal to any mapping with the same content.

    >>> FrozenMap(payment="bao") == {"payment": "bao"}
    True
    """

    __slots__ = ("_items",)

    def __init__(self, values: Mapping[str, V] | None = None, **named: V) -> None:
        self._items: dict[str, V] = {**(values or {}), **named}

    def __getitem__(self, name: str) -> V:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    # faster than the defaults, which try and fail, or go through Python for each value

    def __contains__(self, name: object) -> bool:
        return name in self._items

    @overload
    def get(self, name: str, /) -> V | None: ...
    @overload
    def get(self, name: str, /, default: V | D) -> V | D: ...
    def get(self, name: str, /, default: object = None) -> object:
        """The value of a name, else the default."""
        return self._items.get(name, default)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._items.keys()

    def values(self) -> ValuesView[V]:
        """The values."""
        return self._items.values()

    def items(self) -> ItemsView[str, V]:
        """Names with their values."""
        return self._items.items()

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in self._items.items())
        return f"{type(self).__name__}({named})"
