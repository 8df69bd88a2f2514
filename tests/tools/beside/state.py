"""Firmware state in terms of its C: numbers, structures by field names, and the firmware's variables.

The variables must be equal in both programs at the end of a step.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.tools.beside.compiled import Memory, Sram
from tests.tools.beside.declarations import Declarations, Type


@dataclass(frozen=True)
class Var:
    """Variable of the Python firmware that also exists in the C."""

    of: Any
    name: str
    read: Callable[[Any], int] = int
    """Function that returns its value in the C's representation."""
    mask: int = 0xFFFFFFFF
    """Significant bits."""

    def value(self) -> int:
        """Return the current value."""
        return self.read(getattr(self.of, self.name)) & self.mask


@dataclass(frozen=True)
class Columns:
    """Array of structures in C that is one list per field in Python."""

    columns: Mapping[str, Callable[[], Any]]
    """Current list of each field."""
    at: Any = None
    """Index in the array of each list element; None: in order."""
    size: int = 0
    """Elements of the array; 0: the length of the lists."""
    only: Callable[[], Any] | None = None
    """Elements that are compared at the end of a step; None: all."""
    given: Sequence[str] = ()
    """Fields that are inputs of the C but not compared."""


@dataclass(frozen=True, eq=False)
class Sparse:
    """Array with a few significant elements."""

    size: int
    at: Mapping[int, Any]


@dataclass(frozen=True)
class In:
    """Pointer to an element of an array that is elsewhere in the state."""

    array: Any
    index: int


@dataclass(frozen=True)
class Put:
    """Word of the firmware's own that the C keeps in NIC memory."""

    address: int
    var: Var


class State:
    """Common state of both programs, laid out for the C."""

    def __init__(self, memory: Memory, declared: Declarations) -> None:
        self._memory, self._declared = memory, declared
        self._at: dict[int, tuple[int, Type]] = {}
        """Address of each value that was laid out."""
        self._kept: list[Any] = []
        self._vars: list[tuple[str, Var, Any]] = []
        self._columns: list[tuple[str, Columns, Any]] = []

    def pointer(self, of: Type, value: Any, name: str = "") -> int:
        """Return the address of a value, laying it out if necessary."""
        if value is None:
            return 0
        if isinstance(value, Sram):
            return self._memory.base + int(value)
        if isinstance(value, int):
            return value
        if isinstance(value, In):
            start = self.pointer(of, value.array, name)
            return start + value.index * ctypes.sizeof(self._at[id(value.array)][1].inner.c)
        if id(value) not in self._at:
            count = _count(value)
            place = self._memory.take(ctypes.sizeof(of.inner.c) * count)
            self._at[id(value)] = place, of
            self._kept.append(value)
            self._fill(
                Type(of.base, of.stars - 1, (count,)), place, [value] if isinstance(value, dict) else value, name
            )
        return self._at[id(value)][0]

    def argument(self, of: Type, value: Any) -> int:
        """Return an argument of a path."""
        return self.pointer(of, value) if of.stars else self._number(value)

    def _number(self, value: Any) -> int:
        return (self._memory.base + int(value) if isinstance(value, Sram) else int(value)) & 0xFFFFFFFF

    def _fill(self, of: Type, at: int, value: Any, name: str) -> None:
        """Lay out a value at an address."""
        if of.dims:
            self._array(of, at, value, name)
        elif of.stars:
            ctypes.c_uint64.from_address(at).value = self.pointer(of, value, name)
        elif isinstance(value, dict):
            fields = self._declared.fields[of.base]
            for field, inner in value.items():
                self._fill(fields[field], at + getattr(of.base, field).offset, inner, f"{name}.{field}")
        else:
            word = of.c.from_address(at)
            if isinstance(value, Var):
                self._vars.append((name, value, word))
                value = value.value()
            word.value = self._number(value)

    def _array(self, of: Type, at: int, value: Any, name: str) -> None:
        size = ctypes.sizeof(of.inner.c)
        if isinstance(value, Columns):
            words = np.ctypeslib.as_array((of.inner.c * of.dims[0]).from_address(at))
            self._columns.append((name, value, words))
            for field, column in value.columns.items():
                given = np.asarray(column())
                _field(words, field)[_places(value, len(given))] = given
        else:
            for index, one in value.at.items() if isinstance(value, Sparse) else enumerate(value):
                self._fill(of.inner, at + size * index, one, f"{name}[{index}]")

    def differences(self) -> Iterator[str]:
        """Yield a description of each difference between the programs."""
        for name, var, word in self._vars:
            told, value = self._memory.address(word.value) & var.mask, var.value()
            if told != value:
                yield f"{name}: the C has {told:#x}, the firmware {value:#x}"
        for name, columns, words in self._columns:
            which = slice(None) if columns.only is None else np.asarray(columns.only(), int)
            for field in columns.columns.keys() - set(columns.given):
                column = columns.columns[field]
                is_now = np.asarray(column())
                told, is_now = _field(words, field)[_places(columns, len(is_now))][which], is_now[which]
                for index in np.flatnonzero(told != is_now):
                    yield f"{name}[{index}].{field}: the C has {told[index]}, the firmware {is_now[index]}"


def _count(value: Any) -> int:
    if isinstance(value, Sparse):
        return value.size
    if isinstance(value, Columns):
        return value.size or len(next(iter(value.columns.values()))())
    return 1 if isinstance(value, dict) else len(value)


def _field(words: Any, field: str) -> Any:
    """Return a column; for an array of numbers, the array itself."""
    return words[field] if field else words


def _places(columns: Columns, count: int) -> Any:
    return slice(count) if columns.at is None else columns.at
