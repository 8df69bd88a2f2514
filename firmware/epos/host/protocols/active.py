"""Active frames on the host: the header names the protocols that act on a frame, here and at its receiver."""

from __future__ import annotations

from typing import Any

from firmware.epos.host.errors import EposError
from firmware.epos.nic.pointcuts import Hook, identity
from firmware.epos.nic.protocols.active import SWITCHED


class Side:
    """Active frames of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos
        self._may = [name for name in SWITCHED if name in epos.options.composition]
        self._off: frozenset[str] = frozenset()

    def choose(self, names: tuple[str, ...]) -> None:
        """Select the switchable protocols that act on the next messages. Raises EposError for others."""
        for name in names:
            if name not in self._may:
                what = f"{self._epos.host.who}: a frame that activates {name!r}"
                there = name in self._epos.options.composition
                cause = "this protocol always acts" if there else f"the composition is {self._epos.composition}"
                raise EposError(what, cause, f"give some of {self._may}")
        self._off = frozenset(self._may) - set(names)

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """Return the header word: the bits of the acting protocols."""
        return identity(name for name in self._epos.options.composition if name not in self._off)

    def switched(self, name: str, call: Hook) -> Hook:
        """Return a protocol's hook, disabled while the protocol does not act; its header word is then 0."""
        if name not in self._may:
            return call

        async def guarded(*arguments: Any) -> Any:
            return 0 if name in self._off else await call(*arguments)

        return guarded
