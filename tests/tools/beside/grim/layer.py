"""Description of GRIM for the comparison."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from firmware.grim.nic.layout import NONE, Word
from firmware.grim.nic.parts import Parts
from firmware.grim.nic.words import Counter
from tests.tools.beside.grim.paths import ANY_TO_ANY, PATHS, SCOREBOARD
from tests.tools.beside.grim.sending import puts
from tests.tools.beside.grim.shared import Shared
from tests.tools.beside.grim.state import state_of
from tests.tools.beside.state import Put


class Grim:
    """Description of GRIM for the comparison."""

    hooks: tuple[type, ...] = (Parts,)
    paths: Container[str] = PATHS
    whole: frozenset[str | tuple[str, str]] = frozenset(
        (
            *("wraps", "wrapped", "not wrapped", "more in flight", "the link is busy", "round the scoreboard"),
            *(
                "found",
                "all of the message",
                "the oldest in flight",
                "it is the one",
                "all of it",
                "what is behind it has not left",
            ),
            *(("receive_bad", "not to be believed"), ("receive_bad", "not the length that the header says")),
            "first one",
            "its root is here",
            "no payload",
            "a read",
            "its answer is the reply, which does not get lost",
            "starved",
            "starved until now",
            "prepared only",
        )
    )

    def __init__(self) -> None:
        self._parts: dict[int, Parts] = {}

    def made(self, parts: Parts) -> None:
        """Register the parts of a NI's firmware."""
        self._parts[id(parts.outgoing.own._nic)] = parts

    def state(self, nic: Any) -> tuple[Any, Sequence[Put]] | None:
        """See `Layer`."""
        parts = self._parts.get(id(nic))
        if parts is None:
            return None
        shared = state_of(parts)
        return shared, puts(shared)

    def roots(self, shared: Shared) -> Mapping[str, Any]:
        """See `Layer`."""
        return {"slots": shared.slots, "ni": shared.ni}

    def arguments(
        self, path: str, nic: Any, shared: Any, at: Mapping[str, Any], times: int
    ) -> Iterable[Sequence[Any]] | None:
        """See `Layer`."""
        if path not in PATHS or (shared.per_ni and path in ANY_TO_ANY) or (shared.slots and path in SCOREBOARD):
            return None
        return PATHS[path](shared, at, times)

    def packet(self, shared: Shared, name: str) -> range:
        """See `Layer`."""
        armed = shared.parts.buffers.armed
        if name != "Receiver.packet" or armed == NONE:
            return range(0)
        at = shared.parts.buffers.at[armed]
        return range(at, at + shared.layout.buffer_bytes)

    def is_private_register(self, nic: Any, name: str) -> bool:
        """Return True for the tick of the time-outs, which is set whenever a packet leaves."""
        return name == "IT0" and self._parts[id(nic)].peers.ni.lossy

    def is_private(self, nic: Any, address: int, stored: bool) -> bool:
        """Return True for counters and polled words, which the C keeps in its variables.

        Copies for trees consist of whole lines, with a word 0 that is written when they leave.
        """
        layout = self._parts[id(nic)].peers.ni.layout
        copies = any(0 <= address - queue < layout.tree_limit + layout.slot for queue in layout.tree_queues)
        counters = layout.counters <= address < layout.counters + 4 * len(Counter)
        return counters or (copies and not stored) or address in (Word.RESEND, Word.NEWS, Word.STATE)
