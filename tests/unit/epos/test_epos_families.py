"""Families of EPOS: a communicator has exactly the requested properties, or is rejected with the reason.

Strategy: each member runs over each channel that can carry it, on both networks. Further tests run a Stream on a
network that loses frames, and a Mailbox read by two processes. Headers are compared by the bytes on the cable, layers
by the charged paths. Each impossible combination has its own error when it is built.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

import pytest

from firmware.epos.host import EposError
from firmware.epos.host.families import Communicator, Datagram, Lanai4, Lanai9, Link, Mailbox, Network, Port, Stream
from firmware.epos.nic.pointcuts import NAMES
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import drawn, each_nic

MEMBERS: dict[str, type[Network]] = {"lanai9": Lanai9, "lanai4": Lanai4}
SURE = ["flow", "reliability"]


def networks(bench: Bench) -> list[Network]:
    """Return the network of each host."""
    kind = Lanai9 if bench.hosts[0].host.card.has_chains else Lanai4
    return [kind(epos) for epos in bench.hosts]


@each_nic
def test_link_needs_no_addresses(nic: str) -> None:
    bench, sent = Bench(nic=nic), drawn(1, [0, 64, 5000])
    near, far = (
        Communicator(Link, Datagram, over=one, peer=1 - at, number=7) for at, one in enumerate(networks(bench))
    )

    async def sends() -> None:
        for data in sent:
            await near.send(data)

    async def takes() -> list[bytes]:
        return [await far.receive() for _ in sent]

    assert bench.run(sends(), takes())[1] == sent


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("member", [Link, Port])
def test_a_stream_is_bytes_in_order_on_a_network_that_loses_frames(member: type[Any], seed: int) -> None:
    bench, rng = Bench(protocols="flow+reliability", timeout_us=50, slot_bytes=8192), random.Random(seed)
    for number in range(60):
        if rng.random() < 0.3:
            bench.machine.faults.drop(*rng.choice([(0, 1), (1, 0)]), number)
    near, far = (
        Communicator(member, Stream, over=one, protocols=SURE, peer=1 - at if member is Link else None)
        for at, one in enumerate(networks(bench))
    )
    sent = [rng.randbytes(rng.choice((1, 100, 9000, 20_000))) for _ in range(6)]
    whole, got = b"".join(sent), bytearray()

    async def writes() -> None:
        for data in sent:
            await (near.write(data) if member is Link else near.write(1, data))

    async def reads() -> None:
        while len(got) < len(whole):
            most = rng.choice((1, 300, 100_000))
            part = await (far.read(most) if member is Link else far.read(0, most))
            assert 1 <= len(part) <= most
            got.extend(part)

    bench.run(writes(), reads())
    assert bytes(got) == whole


def test_port_names_the_sender_and_replies_reach_it() -> None:
    bench = Bench(3)
    nets = networks(bench)
    server = Communicator(Port, Datagram, over=nets[0], number=9, needs=["reply"])
    clients = [Communicator(Port, Datagram, over=nets[node], number=20 + node) for node in (1, 2)]

    async def serves() -> None:
        for _ in range(4):
            letter = await server.receive()
            await server.reply(letter, letter.data + b" to %d" % letter.node)

    async def asks(at: int) -> list[bytes]:
        got = []
        for word in (b"one", b"two"):
            await clients[at].send(0, word, 9)
            got.append((await clients[at].receive()).data)
        return got

    _, *got = bench.run(serves(), asks(0), asks(1))
    assert got == [[b"one to 1", b"two to 1"], [b"one to 2", b"two to 2"]]


def test_a_mailbox_drained_by_two_processes_gives_each_message_once() -> None:
    bench, count = Bench(4), 12
    boxes = [Communicator(Mailbox, Datagram, over=one, number=3) for one in networks(bench)]
    taken: list[list[bytes]] = [[], []]

    async def drains(mine: list[bytes]) -> None:
        while sum(map(len, taken)) + waiting[0] < 3 * count:
            waiting[0] += 1
            letter = await boxes[0].receive()
            waiting[0] -= 1
            mine.append(b"%d " % letter.node + letter.data)

    async def sends(me: int) -> None:
        for number in range(count):
            await boxes[me].send(0, b"%d" % number)

    waiting = [0]
    bench.run(*(drains(mine) for mine in taken), *(sends(node) for node in (1, 2, 3)))
    assert Counter(taken[0] + taken[1]) == Counter(b"%d %d" % (node, at) for node in (1, 2, 3) for at in range(count))
    assert all(taken)


def test_header_sizes_of_link_and_port_on_the_cable_are_as_declared() -> None:
    sizes = {}
    members: tuple[type[Any], ...] = (Link, Port, Mailbox)
    for member in members:
        bench = Bench()
        near, far = (
            Communicator(member, Datagram, over=one, peer=1 - at if member is Link else None)
            for at, one in enumerate(networks(bench))
        )
        bench.run(near.send(bytes(68)) if member is Link else near.send(1, bytes(68)), far.receive())
        rows = [row for row in bench.machine.trace.records if (row[2], row[1] // 16) == (TraceEvent.RX_TAIL, 1)]
        sizes[member.__name__] = rows[0][4], near.header_bytes
    (link, none), (port, four), mailbox = sizes["Link"], sizes["Port"], sizes["Mailbox"]
    assert (none, four) == (0, 4) and mailbox == (link, 0)
    assert port - link == 8, "4 bytes, and as many of padding to a word of the cable"


def test_link_drops_messages_of_others_and_unknown_numbers_are_counted() -> None:
    bench = Bench(3)
    nets = networks(bench)
    far = Communicator(Link, Datagram, over=nets[2], peer=0, number=1)
    bench.run(nets[1].send(2, b"stray", 1))
    bench.run(nets[1].send(2, b"nobody", 2))
    bench.run(bench.machine.host(2).sleep(50_000_000, "their arrival"))
    _, got = bench.run(nets[0].send(2, b"mine", 1), far.receive())
    assert (got, far.strays, nets[2].unclaimed) == (b"mine", 1, 1)


def test_member_charges_only_its_own_paths() -> None:
    charged: dict[int, list[str]] = {}
    for both in (False, True):
        bench = Bench()
        nets = networks(bench)
        near, far = (Communicator(Link, Datagram, over=one, peer=1 - at, number=5) for at, one in enumerate(nets))
        if both:
            Communicator(Port, Datagram, over=nets[0], number=6)
            Communicator(Mailbox, Datagram, over=nets[1], number=6)
        paths: list[str] = []
        host = bench.machine.host(1)
        original = host.spend

        async def spend(path: str, times: int = 1, original: Any = original, paths: list[str] = paths) -> None:
            paths.append(path)
            await original(path, times)

        with patch.object(host, "spend", spend):
            bench.run(near.send(b"word"), far.receive())
        charged[both] = [path for path in paths if path != "epos_look"]
    assert charged[False] == charged[True] == ["epos_take", "epos_copied", "epos_dispatch", "epos_link_take"]


@pytest.mark.parametrize(
    ("protocols", "member", "channel", "more", "said"),
    [
        (
            "",
            Link,
            Stream,
            {"peer": 1},
            "over the baseline alone may lose bytes: flow and reliability is missing; compose",
        ),
        ("flow", Link, Stream, {"peer": 1, "protocols": ["flow"]}, "over flow may lose bytes: reliability is missing"),
        (
            "flow+reliability",
            Mailbox,
            Stream,
            {"protocols": SURE},
            "a Stream from several senders has no order; use a Data",
        ),
        (
            "",
            Link,
            Datagram,
            {"peer": 1, "protocols": ["flow"]},
            "it needs flow, but the network is composed of the ba",
        ),
        ("flow", Link, Datagram, {"peer": 1}, "it needs the baseline alone, but the network is composed of flow"),
        ("", Link, Datagram, {}, "invalid peer None; give another node as peer="),
        ("", Link, Datagram, {"peer": 0}, "invalid peer 0"),
        ("", Port, Datagram, {"peer": 1}, "it has no fixed peer"),
        (
            "",
            Link,
            Datagram,
            {"peer": 1, "needs": ["reply"]},
            "'reply' is missing; it has send, receive",
        ),
        ("", Port, Datagram, {"number": 256}, "communicator 256: invalid number; give 0 to 255"),
        ("", Port, Datagram, {"number": True}, "communicator True: invalid number"),
    ],
)
def test_invalid_communicators_are_rejected_at_the_build(
    protocols: str, member: type[Any], channel: type[Any], more: dict[str, Any], said: str
) -> None:
    (net, _) = networks(Bench(protocols=protocols))
    with pytest.raises(EposError, match=said):
        Communicator(member, channel, over=net, **more)


def test_stream_is_rejected_if_frames_can_switch_reliability_off() -> None:
    everything = "+".join(NAMES)
    (net, _) = networks(Bench(protocols=everything))
    with pytest.raises(EposError, match="may lose bytes if frames switch reliability off"):
        Communicator(Link, Stream, over=net, protocols=everything.split("+"), peer=1)


@each_nic
def test_extras_exist_only_on_their_network(nic: str) -> None:
    bench = Bench(nic=nic)
    kind, other = (Lanai9, Lanai4) if nic == "lanai9" else (Lanai4, Lanai9)
    with pytest.raises(
        EposError, match=f"a network {other.__name__}: the card has another technology; use {kind.__name__}"
    ):
        other(bench.hosts[0])
    net = kind(bench.hosts[0])
    assert [hasattr(net, name) for name in Lanai9.extras] == [nic == "lanai9"] * 2
    if nic == "lanai9":
        Communicator(Port, Datagram, over=net, needs=["chains", "doorbells"])
    else:
        with pytest.raises(EposError, match="'doorbells' is missing; .* and Lanai4 no more"):
            Communicator(Port, Datagram, over=net, needs=["doorbells"])


def test_unsupported_calls_and_numbers_in_use_are_rejected() -> None:
    net = networks(Bench())[0]
    link = Communicator(Link, Datagram, over=net, peer=1)
    with pytest.raises(EposError, match="a Link over a Datagram: it has no 'write'; it has send, receive"):
        Bench().run(link.write(b""))
    with pytest.raises(EposError, match="communicator 0: it is already open; use another number"):
        Communicator(Port, Datagram, over=net)
    port = Communicator(Port, Datagram, over=net, number=1)
    with pytest.raises(EposError, match="a datagram of 65533 bytes: a message has at most 65536, less 4 of the header"):
        Bench().run(port.send(1, bytes(65_533)))
