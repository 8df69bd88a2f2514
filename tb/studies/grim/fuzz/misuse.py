"""Invalid calls, which must raise GrimError with the name of the invalid argument and have no effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from firmware.grim.formats import MAX_SEND
from firmware.grim.host import Grim


@dataclass(frozen=True)
class Misuse:
    """Invalid call; `call` makes it with the library, a valid destination, a valid handler and a valid block."""

    argument: str
    call: Callable[[Grim, int, int, int], Any]


def _another(*message: object) -> None:
    """Handler for a name that is already registered."""


MISUSES: Mapping[str, Misuse] = {
    "enabling twice": Misuse("grim_enable", lambda grim, to, handler, block: grim.grim_enable()),
    "no such node": Misuse("destination", lambda grim, to, handler, block: grim.send(99 << 24, handler)),
    "no such device": Misuse("destination", lambda grim, to, handler, block: grim.send(to | 77 << 16, handler)),
    "no such channel there": Misuse("destination", lambda grim, to, handler, block: grim.send(to | 999, handler)),
    "no such channel here": Misuse("channel", lambda grim, to, handler, block: grim.send(to, handler, channel=99)),
    "no such handler": Misuse("handler", lambda grim, to, handler, block: grim.send(to, 60_000)),
    "handler 0": Misuse("handler", lambda grim, to, handler, block: grim.send(to, 0)),
    "argument of 33 bits": Misuse("argument 0", lambda grim, to, handler, block: grim.send(to, handler, 1 << 32)),
    "argument far below": Misuse("argument 3", lambda grim, to, handler, block: grim.send(to, handler, a3=-1 << 40)),
    "payload of text": Misuse("payload", lambda grim, to, handler, block: grim.send(to, handler, payload="text")),
    "payload of a number": Misuse("payload", lambda grim, to, handler, block: grim.send(to, handler, payload=5)),
    "no VNN": Misuse("vnn", lambda grim, to, handler, block: grim.get_vnn_name(99)),
    "name twice": Misuse("name", lambda grim, to, handler, block: grim.register_handler(_another, "take")),
    "name of nothing": Misuse("name", lambda grim, to, handler, block: grim.register_handler(_another, "")),
    "no function": Misuse("function", lambda grim, to, handler, block: grim.register_handler(5, "five")),  # type: ignore[arg-type]
    "no tree": Misuse("tree", lambda grim, to, handler, block: grim.send_mc(77, handler)),
    "tree without a name": Misuse("name", lambda grim, to, handler, block: grim.find_multicast_tree("")),
    "subscribing to nothing": Misuse("tree", lambda grim, to, handler, block: grim.subscribe_multicast(66, 1)),
    "allocating nothing": Misuse("number of bytes", lambda grim, to, handler, block: grim.malloc_pinned(0)),
    "allocating too much": Misuse("number of bytes", lambda grim, to, handler, block: grim.malloc_pinned(1 << 23)),
    "pinning nothing": Misuse("number of bytes", lambda grim, to, handler, block: grim.pin_user_memory(0)),
    "freeing inside": Misuse("pinned virtual address", lambda grim, to, handler, block: grim.free_pinned_va(block + 4)),
    "freeing nothing": Misuse("pinned virtual address", lambda grim, to, handler, block: grim.free_pinned_va(64)),
    "address of nothing": Misuse("pinned virtual address", lambda grim, to, handler, block: grim.get_pinned_pa(64)),
    "no physical address": Misuse("pinned physical address", lambda grim, to, handler, block: grim.get_pinned_va(8)),
    "odd target": Misuse("target", lambda grim, to, handler, block: grim.send_memory(to, block + 2, block, 4)),
    "odd source": Misuse("source", lambda grim, to, handler, block: grim.send_memory(to, block, block + 1, 4)),
    "source of nobody": Misuse("source", lambda grim, to, handler, block: grim.send_memory(to, block, 64, 4)),
    "moving nothing": Misuse("number of bytes", lambda grim, to, handler, block: grim.send_memory(to, block, block, 0)),
    "moving too much": Misuse(
        "number of bytes", lambda grim, to, handler, block: grim.send_memory(to, block, block, MAX_SEND + 4)
    ),
    "odd lock": Misuse(
        "lock", lambda grim, to, handler, block: grim.send_memory(to, block, block, 4, lock=block + 2, value=1)
    ),
    "lock of 33 bits": Misuse(
        "lock", lambda grim, to, handler, block: grim.send_memory(to, block, block, 4, lock=block, value=1 << 32)
    ),
    "reading to nobody": Misuse("target", lambda grim, to, handler, block: grim.fetch_memory(to, 64, block, 4)),
    "lock at nobody's": Misuse(
        "lock", lambda grim, to, handler, block: grim.fetch_memory(to, block, block, 4, lock=64)
    ),
    "NI memory too late": Misuse("grim_enable", lambda grim, to, handler, block: grim.reserve_ni_memory(64)),
    "no NI memory": Misuse("reserve_ni_memory", lambda grim, to, handler, block: grim.get_reserved_ni_memory()),
}
