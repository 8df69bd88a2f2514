"""Axes of a sweep: conversion of `hosts=2,4,8 size=0:65536:x2` to points.

An axis is a key with values: words separated by commas, and ranges `first:last:step` with inclusive end. A step `x2`
multiplies, `16` adds, the default adds 1. From 0, a multiplying range continues with 1.
"""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pymodels.errors import ConfigError, nearest

RANGE = re.compile(r"(\d+):(\d+)(?::(x?)(\d+))?", re.ASCII)
MOST = 100_000
"""Maximum number of points of a sweep (our choice)."""


@dataclass(frozen=True)
class Axis:
    """Key with its values as typed."""

    key: str
    values: tuple[str, ...]


def parse(text: str, known: Iterable[str], designs: int = 0) -> tuple[Axis, ...]:
    """Return the axes in the given order.

    Args:
        text: Text of AXES.
        known: Valid keys.
        designs: Number of designs; with designs, no axis is required.

    Raises:
        ConfigError: Invalid axis, unknown or repeated key, or too many points.
    """
    names = set(known)
    try:
        words = shlex.split(text)
    except ValueError:
        raise _error("unclosed quotation mark", repr(text), "close it, or write \\ before it") from None
    axes: list[Axis] = []
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not values:
            raise _error("invalid axis", repr(word), "write key=value,value or key=first:last:step")
        if key not in names:
            raise _error(f"unknown key {key!r}", "not a setting of study, profile or run", nearest(key, names))
        if key in (axis.key for axis in axes):
            raise _error(f"{key} given twice", repr(text), "keep one")
        axes.append(Axis(key, tuple(dict.fromkeys(_values(key, values)))))
    if not axes and not designs:
        raise _error("no axis", "a sweep needs at least one axis", 'write AXES="key=value,value ..."')
    points = math.prod((max(designs, 1), *(len(axis.values) for axis in axes)))
    if points > MOST:
        raise _error("too many points", f"{points:,} of at most {MOST:,}", "use larger steps or fewer axes")
    return tuple(axes)


def points(axes: Iterable[Axis]) -> list[dict[str, str]]:
    """Return all combinations of the axes' values by key; the last axis changes fastest."""
    known = list(axes)
    return [
        dict(zip((axis.key for axis in known), values, strict=True))
        for values in itertools.product(*(axis.values for axis in known))
    ]


def _values(key: str, text: str) -> Iterator[str]:
    for part in text.split(","):
        found = RANGE.fullmatch(part)
        if found:
            yield from map(str, _range(key, part, found))
        elif not part or (":" in part and part.replace(":", "").replace("x", "").isdigit()):
            raise _error(
                "invalid value", f"{key} has {part!r}", "write first:last, first:last:step or first:last:xfactor"
            )
        else:
            yield part


def _range(key: str, text: str, found: re.Match[str]) -> Iterator[int]:
    first, last, step = int(found[1]), int(found[2]), int(found[4] or 1)
    if first > last:
        raise _error("empty range", f"{key} is from {first} to {last}", "put the smaller number first")
    if step < (2 if found[3] else 1):
        raise _error("endless range", f"{key} has {text!r}", "step by at least 1, or multiply by at least 2")
    value = first
    while value <= last:
        yield value
        value = (value * step or 1) if found[3] else value + step
        if (value - first) // step > MOST and not found[3]:
            raise _error("too many points", f"{key} has {text!r}", "use larger steps")


def _error(what: str, cause: str, remedy: str) -> ConfigError:
    return ConfigError("AXES", 0, what, cause, remedy)
