"""Stable names of public signals in a cocotb test: `cluster.node("paris").nic.send.active_q`, `.port[3].rx`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymodels.errors import SanlabError, nearest
from tb.cocotb_test.built import Built
from tb.cocotb_test.public import load


class Signals:
    """Public signals of a simulation by stable name.

    Args:
        dut: Handle of the top level.
        built: Description of the test, with its public signals.
    """

    def __init__(self, dut: Any, built: Built) -> None:
        self._dut, self._public, self._folder = dut, built.public, built.folder
        self._handles: dict[str, Any] = {}
        self._known: Sequence[str] = ()
        """All stable names, once a name is not public."""

    def place(self, name: str) -> Place:
        """Return a host or a switch."""
        return Place(self, name)

    def at(self, name: str) -> Any:
        """Return the handle of a public signal, or the place with this name.

        Raises:
            SanlabError: The name is no public signal; the message has the declaration that would add it.
        """
        if name in self._handles:
            return self._handles[name]
        if name in self._public:
            handle = self._dut
            for part in _parts(self._public[name].removeprefix("top.")):
                handle = handle[part]
            return self._handles.setdefault(name, handle)
        known = self._known or load(self._folder)
        self._known = known
        if any(one.startswith((f"{name}.", f"{name}[")) for one in known):
            return Place(self, name)
        raise _missing(name, known)


def _missing(name: str, known: Sequence[str]) -> SanlabError:
    """Return the error for a signal that is not public, or that the cluster does not have."""
    place = "at the top of the test file"
    if not known:
        return SanlabError(
            f"signal {name}", "the file declares no public signals", f'add PUBLIC = ["{name}.*"] {place}'
        )
    if name not in known:
        return SanlabError(f"signal {name}", "unknown name", nearest(name, known))
    return SanlabError(f"signal {name}", "not public", f'add "{name}" to PUBLIC {place}')


class Place:
    """Host, switch or part of one: attributes and indices lead to its parts and public signals."""

    def __init__(self, signals: Signals, name: str) -> None:
        self._signals, self._name = signals, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._signals.at(f"{self._name}.{name}")

    def __getitem__(self, index: int | str) -> Any:
        """Return a part with an index (`port[3]`), or a signal by a name with dots."""
        return self._signals.at(f"{self._name}[{index}]" if isinstance(index, int) else f"{self._name}.{index}")

    def __repr__(self) -> str:
        return f"<signals of {self._name}>"


def _parts(path: str) -> list[str | int]:
    """Return the names and indices of a hierarchical name: `gen_port[3].port` gives gen_port, 3, port."""
    parts: list[str | int] = []
    for part in path.split("."):
        name, *indices = part.replace("]", "").split("[")
        parts += [name, *map(int, indices)]
    return parts
