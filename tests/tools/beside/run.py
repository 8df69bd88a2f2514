"""Comparison of a path's C, run whenever the Python firmware charges it, with the firmware."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from firmware.via.nic.layout import Region, Vi
from tests.tools.beside.hooks import HOOKS
from tests.tools.beside.paths import Paths
from tests.tools.beside.via import FOUND, Found, sram

SHARED, OF_VI, OF_REGION = 96, Vi.BYTES // 4, Region.BYTES // 4
"""Words of the kernel and the NIC, of a VI, and of a region."""


class Beside:
    """Counts of charged paths, and of runs of their C by the reason for leaving the path."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.charged: Counter[str] = Counter()
        self.ran: Counter[str] = Counter()
        self.left: Counter[tuple[str, str]] = Counter()
        self.compared: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._told: dict[tuple[Hashable, str], tuple[str, Any]] = {}
        """Expected next actions by NIC, or other actor, and kind: the path, and its announcement."""

    def charge(self, nic: Any, path: str, at: Mapping[str, Any]) -> None:
        """Run the C of a path charged by the firmware, in a method with these variables."""
        self.charged[path] += 1
        found = FOUND[path](at) if path in FOUND else None
        if found is None:
            return
        off, out, stores = self._run(nic, path, found)
        self.ran[path] += 1
        self.left[path, off] += bool(off)
        if found.stores:
            self._told.update({(nic.node, f"word {address:#x}"): (path, value) for address, value in stores})
        who = nic.node if found.who is None else found.who
        if told := found.tells(off, out):
            self._told[who, told[0]] = path, told[1]
        if found.done:
            self.done(who, *found.done)

    def _run(self, nic: Any, path: str, found: Found) -> tuple[str, list[int], list[tuple[int, int]]]:
        """Return the reason for leaving the path, its outputs, and the words that it stores."""
        paths, given = self._paths, found.given
        places = [("shared", 0, SHARED)]
        if found.endpoint is not None:
            places.append(("vi_words", found.endpoint.words, OF_VI))
        if found.region:
            places.append(("region", found.region, OF_REGION))
        before = {name: sram(nic, address, count) for name, address, count in places}
        for name, words in before.items():
            paths.put(name, words)
        if found.cache is not None:
            cache = found.cache
            paths.put("cache", sram(nic, cache._base, cache.size))
            given = {**given, "at": cache.at, "freed": cache._freed, "tail": cache.tail, "mask": cache.size - 1}
        off, out = paths.run(path, given)
        stores = [
            (address + 4 * index, value)
            for name, address, count in places
            for index, value in enumerate(paths.words(name, count))
            if value != before[name][index]
        ]
        return off, out, stores

    def done(self, who: Hashable, kind: str, value: Any) -> None:
        """Compare an action of the firmware with the announcement of a path."""
        path, told = self._told.pop((who, kind), ("", None))
        if not path:
            return
        self.compared[path] += 1
        if value not in told if isinstance(told, set) else value != told:
            self.wrong.append(f"{path}: the C has {told}, the firmware {value}")


@contextmanager
def watched(paths: Paths) -> Iterator[Beside]:
    """Run the C of all paths that NICs charge within the `with` block."""
    beside = Beside(paths)
    with ExitStack() as patches:
        for owner, name, hook in HOOKS:
            patches.enter_context(patch.object(owner, name, hook(beside, getattr(owner, name))))
        yield beside
