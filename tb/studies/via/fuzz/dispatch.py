"""Dispatch of the acts of a connection to their functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from tb.fuzz.program import Act
from tb.studies.via.fuzz import changes, dequeuing, lending, messages, misuse, queries, remote
from tb.studies.via.fuzz.hostile import Hostile
from tb.studies.via.fuzz.link import Link

PERFORMED: Mapping[str, Callable[[Link, Act], Awaitable[None]]] = {
    "message": messages.message,
    "message too": messages.message,
    "messages": messages.messages,
    "burst": messages.burst,
    "long message": messages.long_message,
    "receive nothing": messages.receive_nothing,
    "too long": messages.too_long,
    "write": remote.write,
    "read": remote.read,
    "forbidden": remote.forbidden,
    "lend": lending.lend,
    "lend too": lending.lend,
    "take": dequeuing.take,
    "two threads": dequeuing.two_threads,
    "resize": dequeuing.resize,
    "renew": changes.renew,
    "remake": changes.remake,
    "reshape": changes.reshape,
    "refuse": changes.refuse,
    "early": changes.early,
    "wrong": queries.wrong,
    "wrong receive": queries.wrong_receive,
    "ask": queries.ask,
    "misuse": misuse.misuse,
    "stop": queries.stop,
}


async def perform(link: Link, act: Act) -> None:
    """Do an act; on a hostile connection every act becomes garbage, on others none does."""
    if link.hostile:
        if link.alive:
            seed, times, number = (int(act.values.get(name, least)) for name, least in HOSTILE)
            await Hostile(link, link.sides[number], seed).run(times)
    elif act.name in PERFORMED:
        await PERFORMED[act.name](link, act)


HOSTILE = (("seed", 0), ("times", 4), ("side", 0))
"""Parameter of each act that determines the amount of garbage, and its minimum."""
