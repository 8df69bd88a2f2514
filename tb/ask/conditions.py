"""Conditions on a signal: `<signal>=<value>`, `<signal>!=<value>`, `<signal> rises`, `falls` or `changes`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import ConfigError, nearest
from tb.ask.waveform import Signal, Times, Value, Waveform

EQUALS = re.compile(r"(?P<name>[^=]+?)\s*(?P<op>!?=)\s*(?P<value>.*)", re.DOTALL)
EDGE = re.compile(r"(?P<name>.+?)\s+(?P<op>rises|falls|changes)")
FORMS = "give <signal>=<value>, <signal>!=<value>, <signal> rises, <signal> falls or <signal> changes"


@dataclass(frozen=True)
class Condition:
    """Condition on a signal of a waveform file."""

    signal: Signal
    op: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.signal.path} {self.op}" + (f" {self.value}" if self.op in ("=", "!=") else "")

    def occurrences(self) -> Times:
        """Return the times at which the condition begins to hold, or at which its edge is.

        The value at the start of the file is no occurrence.
        """
        times, values = self.signal.changes
        if self.op == "changes":
            return times[1:]
        holds = self._holds(values)
        return times[1:][holds[1:] & ~holds[:-1]]

    def periods(self) -> tuple[Times, Times]:
        """Return the start and end times of the periods in which an equality holds, each of shape (n,).

        A period that holds at the end of the file ends after every time.
        """
        times, values = self.signal.changes
        holds = self._holds(values)
        edges = np.flatnonzero(np.diff(holds, prepend=False))
        ends = np.append(times[edges[1::2]], [np.iinfo(np.int64).max] * (len(edges) % 2))
        return times[edges[::2]], ends

    def _holds(self, values: Sequence[Value]) -> NDArray[np.bool_]:
        high = bool if self.signal.is_text else is_high  # a text of digits is not bits
        test = {"rises": high, "falls": is_low}.get(self.op) or self._equals()
        known = {value: test(value) for value in set(values)}
        return np.array([known[value] for value in values], bool) ^ (self.op == "!=")

    def _equals(self) -> Callable[[Value], bool]:
        number = numeral(self.value)
        wanted = self.value.lower()

        def test(value: Value) -> bool:
            if isinstance(value, str):
                return value.lower() == wanted
            return value == number or self.signal.shown(value).lower() == wanted

        return test


def is_high(value: Value) -> bool:
    """Return True for a number other than 0, and for bits without unknown ones."""
    return bool(value) and not (isinstance(value, str) and is_unknown(value))


def is_low(value: Value) -> bool:
    """Return True for 0 and for an empty text."""
    return not value


def is_unknown(value: str) -> bool:
    """Return True for bits of which some are neither 0 nor 1."""
    return bool(value) and set(value.lower()) <= set("01xzuwlh-")


def numeral(text: str) -> int | float | None:
    """Return the number in a text: decimal, `0x1F`, `0b101`, `1.5`; None for any other text."""
    for kind in (lambda word: int(word, 0), int, float):
        with suppress(ValueError):
            return kind(text)
    return None


def parse(text: str, option: str, file: Waveform) -> Condition:
    """Return the condition in a text.

    Args:
        text: Condition as the user wrote it.
        option: Name of its option, for errors.
        file: File with the signal.

    Raises:
        ConfigError: The text has another form, its signal is unknown or ambiguous, or no value has this name.
    """
    found = EQUALS.fullmatch(text.strip()) or EDGE.fullmatch(text.strip())
    if not found:
        raise ConfigError(option, 0, "invalid condition", f"{option} is {text!r}", FORMS)
    signal = file.find(found["name"], option)
    condition = Condition(signal, found["op"], found.groupdict().get("value", ""))
    word = condition.value.lower()
    if condition.op in ("=", "!=") and not signal.is_text and numeral(word) is None and not is_unknown(word):
        names = sorted(set(signal.names.values()))
        if word not in {name.lower() for name in names}:
            remedy = nearest(condition.value, names) if names else "its values have no names: give a number"
            raise ConfigError(option, 0, "unknown value", f"{signal.path} is never {condition.value}", remedy)
    return condition
