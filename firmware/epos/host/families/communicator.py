"""Construction of communicators from a member, a channel, a network and its protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from firmware.epos.host.families.channels import Channel
from firmware.epos.host.families.members import Member, refuse
from firmware.epos.host.families.network import Network
from firmware.epos.nic.protocols.active import SWITCHED

M = TypeVar("M", bound=Member)


def Communicator(  # noqa: N802 - paper 004's name of what it makes
    member: type[M],
    channel: type[Channel],
    *,
    over: Network,
    protocols: Sequence[str] = (),
    number: int = 0,
    peer: int | None = None,
    needs: Sequence[str] = (),
) -> M:
    """Return a communicator: `Communicator(Link, Stream, over=network, protocols=["flow", "reliability"], peer=1)`.

    Args:
        member: Member of the family, with its calls.
        channel: Channel that carries its messages.
        over: Network of this host.
        protocols: Protocols of which the network is composed.
        number: Number of the communicator, the same at all ends, 0 to 255.
        peer: Node at the other end of a Link.
        needs: Calls and extras of the network that the program uses.

    Raises:
        EposError: The parts do not fit together, or an element of `needs` is missing.
    """
    _check_composition(member, channel, over, protocols)
    calls = member.offers[channel]
    for name in needs:
        if name not in calls and name not in over.extras:
            has = f"it has {', '.join(calls)}, and {type(over).__name__} {', '.join(over.extras) or 'no more'}"
            raise refuse(member, over, f"{name!r} is missing", has)
    if member.joined and peer not in over.epos.partners:
        raise refuse(member, over, f"invalid peer {peer!r}", "give another node as peer=")
    if not member.joined and peer is not None:
        raise refuse(member, over, "it has no fixed peer", "omit peer, or use a Link")
    return member(over, number, -1 if peer is None else peer, channel)


def _check_composition(member: type[Member], channel: type[Channel], over: Network, protocols: Sequence[str]) -> None:
    """Raise EposError for protocols that the network does not have, and for a channel that it cannot carry."""
    there, name = list(over.epos.protocols), channel.__name__
    if channel not in member.offers:
        raise refuse(member, over, f"a {name} from several senders has no order", "use a Datagram, or a Link or a Port")
    if missing := [one for one in channel.needs if one not in there]:
        cause = f"a {name} over {over.epos.composition} may lose bytes: {' and '.join(missing)} is missing"
        raise refuse(member, over, cause, f"compose {'+'.join(channel.needs)} in, or use a Datagram")
    if channel.needs and "active" in there:
        cause = f"a {name} may lose bytes if frames switch {', '.join(SWITCHED)} off"
        raise refuse(member, over, cause, "compose without active, or use a Datagram")
    if set(protocols) != set(there):
        asked = "+".join(protocols) or "the baseline alone"
        cause = f"it needs {asked}, but the network is composed of {over.epos.composition}"
        raise refuse(member, over, cause, "name the same protocols here and in epos.protocols")
