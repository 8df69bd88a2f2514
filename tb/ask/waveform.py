"""Signals of a waveform file (FST, VCD or GHW, of any tool), found by short names.

A short name is a part of the hierarchical name: its words occur in this order in the full name, and its last word is
the last one there. `host_paris` is also `paris`, `switch_s0` is `s0`, and `gen_port[1]` is `port1`. So
`s0.port1.rx` names the same signal in files of Verilator and of Icarus, whose scopes differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import EXIT_CONFIGURATION, ConfigError, SanlabError, shown

T = TypeVar("T")
Value = int | float | str
"""Value of a signal: a number, a text, or bits as text if some of them are unknown."""
Times = NDArray[np.int64]
"""Times in units of the file, ascending, shape (n,)."""
PANIC = "PanicException"
"""Name of the exception of a panic in the reader, which is no `Exception` and cannot be imported."""
SHOWN = 6
"""Maximum number of candidates that an error lists."""
BRACKETS = re.compile(r"[\[\]()]")
GENERATED = re.compile(r"^(gen|host|switch)_(?=.)")
"""Prefixes of scopes that a short name may omit."""


class WaveformError(SanlabError):
    """Waveform file that cannot be read."""

    exit_code = EXIT_CONFIGURATION


class Signal:
    """Signal of a waveform file."""

    def __init__(self, file: Waveform, path: str, variable: Any) -> None:
        self.path = path
        self._file, self._variable = file, variable

    @property
    def wire(self) -> str:
        """Identity of the signal's changes in the file, which connected variables share."""
        return str(self._variable.signal_id)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """Names of values: those of the run's views, or of the enumeration in the file."""
        if self.wire in self._file.names:
            return self._file.names[self.wire]
        kind = self._variable.enum_type
        pairs = kind[1] if kind else ()
        return {int(bits, 2): name for bits, name in pairs if bits and set(bits) <= {"0", "1"}}

    @cached_property
    def changes(self) -> tuple[Times, list[Value]]:
        """Times of the changes and the new values; the first one is the value at the start of the file."""
        pairs: list[tuple[int, Value]] = self._file.read(lambda: list(self._variable.signal))
        return np.array([time for time, _ in pairs], np.int64), [value for _, value in pairs]

    @property
    def is_text(self) -> bool:
        """True if the values are texts."""
        return bool(self._variable.is_string)

    def shown(self, value: Value) -> str:
        """Return the name of a value, or the value itself as text."""
        return self.names.get(value, str(value)) if isinstance(value, int) else str(value)


class Waveform:
    """Waveform file."""

    def __init__(self, path: Path, names: Mapping[str, Mapping[int, str]]) -> None:
        """Read the declarations of a file.

        Args:
            path: FST, VCD or GHW file.
            names: Signals of the views of a run by full name, with the names of their values. Short names name
                these signals first.

        Raises:
            WaveformError: The file is missing or damaged.
        """
        import pywellen  # a reader in Rust, the one of Surfer

        self.path = path
        if not path.is_file():
            raise WaveformError(f"{path}", "no such file", "run the study with WAVES=1, or give an FST or VCD file")
        self._file = self.read(lambda: pywellen.Waveform(str(path)))
        scale = self._file.timescale
        self.tick_ps = float(scale.factor) * 10.0 ** (12 + scale.unit.to_exponent()) if scale else 1.0
        """Unit of the file's times in ps."""
        self._variables = {str(variable.full_name): variable for variable in self._file.all_vars()}
        self._viewed = names.keys()
        self.names = {self._signal(name).wire: known for name, known in names.items() if known}
        """Names of values by wire."""

    def read(self, action: Callable[[], T]) -> T:
        """Return the result of a call of the reader. Raises WaveformError if the file is damaged."""
        try:
            return action()
        except BaseException as error:
            if isinstance(error, Exception) or type(error).__name__ == PANIC:
                cause, remedy = shown(str(error)).replace(":", ""), "give a complete FST, VCD or GHW file"
                raise WaveformError(f"{self.path}", f"not readable ({cause})", remedy) from None
            raise

    def find(self, name: str, option: str, near: str = "") -> Signal:
        """Return the signal that a short name names.

        Among several signals, those that share most scopes with `near` are preferred, then those of the views, then
        those with the shortest names.

        Args:
            name: Full or short name.
            option: Name of the option with the name, for errors.
            near: Full name of a signal.

        Raises:
            ConfigError: The name is unknown or ambiguous; the error contains the nearest names.
        """
        if name in self._variables:
            return self._signal(name)
        wanted = _words(name)
        found = ((path, words) for path, words in self._split if _is_part(wanted, words))
        ranked = sorted(((-_shared(words, near), path not in self._viewed, len(words)), path) for path, words in found)
        if not ranked:
            raise ConfigError(option, 0, "unknown signal", name, f"did you mean {self._nearest(wanted)!r}?")
        best = {self._signal(path).wire: path for rank, path in reversed(ranked) if rank == ranked[0][0]}
        if len(best) > 1:
            some = ", ".join(sorted(best.values())[:SHOWN])
            cause = f"{name} is the name of {len(best)} signals"
            raise ConfigError(option, 0, "ambiguous signal", cause, f"give more of its name: {some}")
        return self._signal(ranked[0][1])

    def beside(self, signal: Signal, name: str) -> Signal | None:
        """Return the signal `name` in the scope of another signal; None without one."""
        path = ".".join((*signal.path.split(".")[:-1], name))
        return self._signal(path) if path in self._variables else None

    def _nearest(self, wanted: list[str]) -> str:
        """Return the short name of the signal whose words are most similar to the wanted ones."""

        @cache
        def likeness(one: str, word: frozenset[str]) -> float:
            return max(SequenceMatcher(None, one, spelling).ratio() for spelling in word)

        def similar(words: list[frozenset[str]]) -> float:
            scopes = (max((likeness(one, word) for word in words[:-1]), default=0.0) for one in wanted[:-1])
            return 2 * likeness(wanted[-1], words[-1]) + sum(scopes) - len(words) / 1000

        best = max((words for _, words in self._split), key=similar, default=[frozenset({"(none)"})])
        places = {max(range(len(best) - 1), key=lambda at: likeness(one, best[at])) for one in wanted[:-1] if best[:-1]}
        return ".".join(min(best[at], key=len) for at in (*sorted(places), -1))

    def _signal(self, path: str) -> Signal:
        return Signal(self, path, self._variables[path])

    @cached_property
    def _split(self) -> list[tuple[str, list[frozenset[str]]]]:
        """Full names with the accepted spellings of their words."""
        return [(path, [_spellings(word) for word in _words(path)]) for path in self._variables]


def _words(path: str) -> list[str]:
    return path.lower().split(".")


def _spellings(word: str) -> frozenset[str]:
    plain = BRACKETS.sub("", word)
    return frozenset((word, plain, GENERATED.sub("", word), GENERATED.sub("", plain)))


def _is_part(wanted: list[str], words: list[frozenset[str]]) -> bool:
    """Return True if the wanted words occur in this order, the last one at the end."""
    remaining: Iterator[frozenset[str]] = iter(words[:-1])
    return wanted[-1] in words[-1] and all(any(one in word for word in remaining) for one in wanted[:-1])


def _shared(words: list[frozenset[str]], near: str) -> int:
    """Return the number of scopes that a signal shares with the signal `near`."""
    pairs = zip(words[:-1], _words(near)[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[1] in pair[0], pairs))
