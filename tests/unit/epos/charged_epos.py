"""A tour of EPOS: frames by stores and by DMA, a full Send Ring, and held, overwritten, damaged and foreign frames."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any
from unittest.mock import patch

from firmware.epos.host import Epos, MemoryRange
from firmware.epos.host.families import Communicator, Datagram, Lanai9, Link, Port, Stream
from firmware.epos.nic.words import bell
from pymodels.registers import Block, Pci
from tests.unit.epos.epos_bench import Bench
from tests.unit.layers.charges import Charges, settled

LATE_PS = 1_000_000_000


def tour(charges: Charges) -> None:
    """Run all operations."""
    with charges.operation("start"):
        bench = Bench()
    near, far = bench.hosts
    with charges.operation("two hosts that meet"):
        bench.run(*(host.meet() for host in bench.hosts))
    for size in (0, 64, 1024, 10_000):
        with charges.operation(f"send {size} B"):
            bench.run(settled(bench.machine, near.send(1, bytes(size))))
        with charges.operation(f"receive {size} B"):
            bench.run(settled(bench.machine, far.receive()))
    with charges.operation("a look that finds nothing"):
        bench.run(far.poll())
    with charges.operation("a doorbell with nothing behind"):
        bench.run(settled(bench.machine, near.host.pio_write(near.host.nic_base + Pci.DOORBELL, bytes(4))))
    faults = bench.machine.faults
    faults.corrupt(0, 1, faults.passed(0, 1), 20)
    with charges.operation("one that is damaged"):
        bench.run(settled(bench.machine, near.send(1, bytes(64))))
    with patch.object(near.place, "identity", 5), charges.operation("one of another composition"):
        bench.run(settled(bench.machine, near.send(1, bytes(64))))
    with charges.operation("more than the rings hold, to a host that is late"):
        bench.run(bench.give(0, 1, [bytes(4096)] * 20), _late(bench))
    choices: dict[str, dict[str, Any]] = {
        "in words": {"notify": "word"},
        "in host memory": {"rx_fifo": "host"},
        "with a chain that the host starts": {"activate": "host"},
        "with slots that are overwritten": {"staging": "overwrite"},
    }
    for name, options in choices.items():
        bench = Bench(**options)
        with charges.operation(f"4096 B and 64 B {name}"):
            bench.run(settled(bench.machine, bench.give(0, 1, [bytes(4096), bytes(64)])))
        with charges.operation(f"their receive {name}"):
            bench.run(settled(bench.machine, bench.take(1, 2)))
        with charges.operation(f"a look {name}"):
            bench.run(bench.hosts[1].poll())
    _lost(charges)
    _protocols(charges)
    _families(charges)


def _lost(charges: Charges) -> None:
    """Send messages of three frames, some of which are lost."""
    for where in ("nic", "host"):
        bench = Bench(mtu=512, slot_bytes=2048, rx_fifo=where)
        for number in (1, 3):
            bench.machine.faults.drop(0, 1, number)
        with charges.operation(f"two messages whose middle and first frame are lost, queue of the {where}"):
            bench.run(settled(bench.machine, bench.give(0, 1, [bytes(1500), bytes(1500), bytes(64)])))
        with charges.operation(f"the one after them, queue of the {where}"):
            bench.run(settled(bench.machine, bench.take(1, 1)))


def _protocols(charges: Charges) -> None:
    """Run each protocol alone."""
    bench = Bench(protocols="reliability")
    with charges.operation("64 B that are acknowledged"):
        bench.run(settled(bench.machine, bench.hosts[0].send(1, bytes(64))), bench.take(1, 1))
    bench.machine.faults.drop(1, 0, bench.machine.faults.passed(1, 0))
    with charges.operation("64 B whose acknowledgement is lost"):
        bench.run(settled(bench.machine, bench.hosts[0].send(1, bytes(64))), bench.take(1, 1))
    with charges.operation("both ways at once, with acknowledgements"):
        bench.run(*(bench.give(me, 1 - me, [bytes(4096)] * 6) for me in range(2)))
        bench.run(*(bench.take(me, 6) for me in range(2)))
    bench = Bench(protocols="flow")
    with charges.operation("more messages than credits, to a host that is late"):
        bench.run(bench.give(0, 1, [bytes(64)] * 20), _late(bench))
    bench = Bench(protocols="reliability+flow")
    for number in range(2):
        bench.machine.faults.drop(1, 0, number)
    with charges.operation("acknowledgements and credits that are lost"):
        bench.run(bench.give(0, 1, [bytes(64)] * 20), _late(bench))
    bench = Bench(protocols="flow", pio_limit=4096)
    bench.run(settled(bench.machine, bench.give(0, 1, [bytes(64)] * 2)))
    with charges.operation("a credit while a frame leaves"):
        bench.run(bench.give(1, 0, [bytes(4096)]))
        bench.run(settled(bench.machine, bench.take(1, 2)))
    bench = Bench(protocols="rendezvous")
    with charges.operation("10000 B into a buffer that is posted late"):
        bench.run(bench.give(0, 1, [bytes(10_000)]), _posts(bench, LATE_PS))
    with charges.operation("10000 B into a buffer that is posted before"):
        bench.run(_posts(bench, 0), _after(bench, LATE_PS, bench.give(0, 1, [bytes(10_000)])))
    bench = Bench(protocols="mtu")
    with charges.operation("a lower MTU, and 4096 B"):
        bench.run(settled(bench.machine, bench.hosts[0].lower_mtu(2048)))
        bench.run(settled(bench.machine, bench.give(0, 1, [bytes(4096)])))
    bench = Bench(protocols="active")
    bench.hosts[0].outgoing.hooks["frame"] = (_forged,)
    with charges.operation("a frame that activates what is not composed in"):
        bench.run(settled(bench.machine, bench.give(0, 1, [bytes(64)])))
    bench = Bench(4, protocols="multicast")
    with charges.operation("64 B to three nodes"):
        bench.run(settled(bench.machine, bench.hosts[0].multicast([1, 2, 3], bytes(64))))
    bench = Bench(protocols="protection", processes=2)
    mine, other = bench.hosts[0].processes[1], bench.hosts[1]
    with charges.operation("4096 B and 64 B of a process"):
        bench.run(settled(bench.machine, _sends(mine)), _takes(other, 2))
    mine.host.store_bytes(mine.room.address, bytes(64))
    with patch.object(mine.outgoing, "_peer", 0), charges.operation("one of a process that says it is another"):
        bench.run(settled(bench.machine, mine.send(2, bytes(64))))
    with charges.operation("a request of a process for memory of another"):
        bench.run(settled(bench.machine, _asks_for(mine, bench.hosts[0].processes[0].room.address)))
    with charges.operation("messages to a process that takes none, and one to another"):
        bench.run(settled(bench.machine, bench.give(0, 3, [bytes(64)] * 12)))
        bench.run(settled(bench.machine, mine.send(2, bytes(64))))


async def _asks_for(epos: Epos, address: int) -> None:
    """Write a header and a DMA request that the library would not write, and ring their doorbell."""
    place, card = epos.place, epos.host.nic_base
    header = (2 + 4 << 24, place.identity << 24, 1 << 30 | 1 << 24 | 64, 0)
    for at, words in ((place.slot(0), header), (place.requests + Block.CSUM, (0, 64, 0, 0, address))):
        await epos.host.pio_write(card + at, b"".join(word.to_bytes(4, "big") for word in words))
    told = bell(2, True, 0, place.header_bytes + 64)
    await epos.host.pio_write(card + Pci.DOORBELL + 4096, told.to_bytes(4, "big"))


async def _sends(epos: Epos) -> None:
    """Send a long message and a short one."""
    await epos.send(2, bytes(4096))
    await epos.send(2, bytes(64))


async def _takes(epos: Epos, count: int) -> None:
    """Receive `count` messages."""
    for _ in range(count):
        await epos.receive()


def _families(charges: Charges) -> None:
    """Run the operations of communicators."""
    bench = Bench(protocols="reliability+flow")
    kinds: tuple[tuple[Any, Any, tuple[Any, ...]], ...] = (
        (Link, Datagram, ()),
        (Port, Datagram, (1,)),
        (Link, Stream, ()),
    )
    networks = [Lanai9(epos) for epos in bench.hosts]
    for number, (member, channel, to) in enumerate(kinds):
        peers = (1, 0) if member is Link else (None, None)
        near, far = (
            Communicator(member, channel, over=one, protocols=["flow", "reliability"], number=number, peer=peer)
            for one, peer in zip(networks, peers, strict=True)
        )
        with charges.operation(f"64 B by a {member.__name__} over a {channel.__name__}"):
            takes = far.read(64) if channel is Stream else far.receive()
            bench.run(settled(bench.machine, (near.write if channel is Stream else near.send)(*to, bytes(64))), takes)


async def _forged(nodes: tuple[int, ...], at: int) -> int:
    """Return a header word with all bits of active protocols set."""
    return 0xFF


async def _after(bench: Bench, late: int, call: Awaitable[object]) -> None:
    """Await a call after a delay."""
    await bench.hosts[0].host.sleep(late, "other work")
    await call


async def _posts(bench: Bench, late: int) -> None:
    """Post a buffer, and receive a message into it."""
    await bench.hosts[1].host.sleep(late, "other work")
    await bench.hosts[1].post(0, MemoryRange(bench.machine.host(1).allocate(10_000).address, 10_000))
    await bench.take(1, 1)


async def _late(bench: Bench) -> None:
    await bench.hosts[1].host.sleep(LATE_PS, "other work")
    await bench.take(1, 20)
