"""Active frames on the host: the header says which protocols act on a frame, here and at its receiver."""

from __future__ import annotations

from typing import Any

from firmware.epos.host.errors import EposError
from firmware.epos.nic.pointcuts import Hook, identity
from firmware.epos.nic.protocols.active import SWITCHED


class Side:
    """Of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos
        self._may = [name for name in SWITCHED if name in epos.options.composition]
        self._off: frozenset[str] = frozenset()

    def choose(self, names: tuple[str, ...]) -> None:
        """Of the protocols that frames can switch, those that act on the next messages. Raises EposError."""
        for name in names:
            if name not in self._may:
                what = f"{self._epos.host.who}: a frame that activates {name!r}"
                there = name in self._epos.options.composition
                cause = "it always acts" if there else f"the composition is {self._epos.composition}"
                raise EposError(what, cause, f"frames can switch {self._may}")
        self._off = frozenset(self._may) - set(names)

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """The word of the header."""
        return identity(name for name in self._epos.options.composition if name not in self._off)

    def switched(self, name: str, call: Hook) -> Hook:
        """A protocol's call at a point-cut, made only while it acts; its word of the header is 0 otherwise."""
        if name not in self._may:
            return call

        async def guarded(*arguments: Any) -> Any:
            return 0 if name in self._off else await call(*arguments)

        return guarded
