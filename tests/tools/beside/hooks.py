"""Hooks in VIA's firmware: charged paths, and actions that a path may announce."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

from firmware.via.formats import Header
from firmware.via.nic.ack_receiver import AckReceiver
from firmware.via.nic.incoming import Scatter
from firmware.via.nic.layout import CONTROL_WORDS, Control, Counter
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.rdma_writes import Lookup
from firmware.via.nic.receiving import Receiver
from pymodels.machine.processor import ModelProcessor
from tests.tools.beside.frames import charging


class Watch(Protocol):
    """Receiver of the hooks."""

    def charge(self, nic: Any, path: str, at: Mapping[str, Any]) -> None:
        """Handle a path charged by the firmware, in a method with these variables."""

    def done(self, who: Hashable, kind: str, value: Any) -> None:
        """Handle an action of the firmware."""


def charged(watch: Watch, work: Any) -> Any:
    """Hook the charging of a path; the firmware then does the path's work."""

    def noted(nic: Any, path: str, times: int = 1) -> Any:
        frame = charging()

        async def both() -> None:
            await work(nic, path, times)
            watch.charge(nic, path, frame.f_locals)

        return both()

    return noted


def stored(watch: Watch, store: Any) -> Any:
    """Hook a store of a word in NIC memory."""

    def noted(nic: Any, address: int, value: int) -> None:
        watch.done(nic.node, f"word {int(address):#x}", value)
        store(nic, address, value)

    return noted


def stored_behind(watch: Watch, store: Any) -> Any:
    """Hook stores of words in NIC memory at the end of a path."""

    def noted(nic: Any, address: int, words: Sequence[int]) -> None:
        for at, word in enumerate(words):
            watch.done(nic.node, f"word {int(address) + 4 * at:#x}", word)
        store(nic, address, words)

    return noted


def sent(watch: Watch, store: Any) -> Any:
    """Hook words sent to host memory."""

    def noted(ni: Any, address: int, words: tuple[int, ...], message: int = 0) -> Any:
        watch.done(ni.me, "store", (address, words))
        return store(ni, address, words, message)

    return noted


def taken(watch: Watch, take: Any) -> Any:
    """Hook words taken from a queue cache."""

    def noted(cache: Any, count: int) -> Any:
        words, node = take(cache, count), cache._nic.node
        watch.done(node, "take", words)
        if count == CONTROL_WORDS:
            watch.done(node, "control", (Control.decode(words[0]).vi, *words[1:]))
            watch.done(node, "descriptor", words[1])
        return words

    return noted


def headed(watch: Watch, words: Any) -> Any:
    """Hook the construction of a header."""

    def noted(header: Header) -> Any:
        watch.done(header.source, "header", words(header))
        return words(header)

    return noted


def advanced(watch: Watch, advance: Any) -> Any:
    """Hook payload written to a page."""

    def noted(to: Any, size: int) -> None:
        watch.done(to, "piece", (to.address, size))
        advance(to, size)

    return noted


def counted(watch: Watch, count: Any) -> Any:
    """Hook a dropped packet."""

    def noted(ni: Any, counter: Counter) -> None:
        if counter in (Counter.NOT_CONNECTED, Counter.PASSED, Counter.LOST):
            watch.done(ni.me, "packet", Counter(counter).name)
        count(ni, counter)

    return noted


def acknowledged(watch: Watch, received: Any) -> Any:
    """Hook a received acknowledgement."""

    def noted(receiver: Any, *arguments: Any) -> Any:
        watch.done(receiver._nic.node, "packet", "an answer")
        return received(receiver, *arguments)

    return noted


def ordered(watch: Watch, piece: Any) -> Any:
    """Hook a packet that is the next one of a message."""

    def noted(receiver: Any, *arguments: Any) -> Any:
        watch.done(receiver._nic.node, "packet", "in order")
        return piece(receiver, *arguments)

    return noted


def checked(watch: Watch, check: Any) -> Any:
    """Hook the permission check of an RDMA write."""

    async def noted(lookup: Any, *arguments: Any) -> bool:
        result: bool = await check(lookup, *arguments)
        watch.done(lookup._nic.node, "allowed", result)
        return result

    return noted


HOOKS: list[tuple[type, str, Callable[[Watch, Any], Any]]] = [
    (ModelProcessor, "work", charged),
    (ModelProcessor, "store", stored),
    (ModelProcessor, "store_on", stored_behind),
    (Ni, "store", sent),
    (QueueCache, "take", taken),
    (Header, "words", headed),
    (Scatter, "advance", advanced),
    (Ni, "count", counted),
    (AckReceiver, "received", acknowledged),
    (Receiver, "_piece", ordered),
    (Lookup, "_allowed", checked),
]
"""Methods of the firmware and its NIC, and their replacements."""
