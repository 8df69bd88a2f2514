"""What do the members of EPOS's families cost over the network that carries them?

Strategy: the first host sends messages of a Link, a Port and a Mailbox over a Datagram, and as many bytes over the bare
network; the last host receives them after they have arrived. The CPU time that a member adds to a send is measured, and
compared with the sum of the compiled paths that it uses. Both are equal, to a nanosecond of the bus. Over a Stream,
which needs flow control and reliability, the one-way time of a Link and of a Port is measured.
"""

from __future__ import annotations

import statistics
from typing import Any

from firmware.epos.host.families import Communicator, Datagram, Lanai4, Lanai9, Link, Mailbox, Port, Stream
from pymodels.costs import PathTable
from pymodels.hardware.processors import HostProcessor, host_clocks
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, started
from tb.studies.kit.cpu import CpuTime
from tb.studies.kit.rounds import round_trips

MEMBERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "link": (Link, ()),
    "port": (Port, ("epos_port_header",)),
    "mailbox": (Mailbox, ()),
}
"""Members, and the compiled paths that each adds to a send."""
OPTIONS = {
    "repetitions": Option(3, "messages of each member; the Send Ring never fills", 1, 4),
    "size": Option(64, "bytes of a message", 1, 4096, unit="bytes"),
    **{name: one for name, one in layer_options(LAYER).items() if name != "epos.protocols"},
}
QUICK = "repetitions=1"
TINY = "repetitions=1 size=16"
SETTLE_PS = 30_000_000


async def run(lab: Lab) -> None:
    """Run the study."""
    processor = HostProcessor.from_profile(lab.plan.profile)
    table, clock_us = PathTable.of_host(LAYER), 1 / lab.plan.profile.integer("host.clock_mhz")
    for number, (name, (member, paths)) in enumerate(MEMBERS.items()):
        hosts = await started(lab, {"protocols": ""})
        near, far = _ends(hosts, member, Datagram, number)
        whole, to = bytes(lab.option("size") + near.header_bytes), () if member is Link else (hosts[-1].me,)
        bare = await _used(lab, hosts[0].host, [hosts[0].send(hosts[-1].me, whole) for _ in _times(lab)])
        for _ in _times(lab):
            await hosts[-1].receive()
        used = await _used(lab, hosts[0].host, [near.send(*to, _data(lab)) for _ in _times(lab)])
        for _ in _times(lab):
            await far.receive()
        own = clock_us * sum(host_clocks(table.cost(path), processor) for path in paths)
        lab.metric(f"send_us_network_{name}", bare)
        lab.metric(f"overhead_us_over_network_{name}", used - bare)
        lab.metric(f"paths_us_{name}", own)
        lab.metric(f"header_B_{name}", near.header_bytes)
        await lab.change_layers()
    hosts = await started(lab, {"protocols": "flow+reliability"})
    for number, name in enumerate(("link", "port")):
        lab.metric(f"one_way_us_stream_{name}", await _stream(lab, hosts, MEMBERS[name][0], number))


def _times(lab: Lab) -> range:
    return range(lab.option("repetitions"))


def _data(lab: Lab) -> bytes:
    return bytes(lab.option("size"))


def _ends(hosts: list[Any], member: Any, channel: Any, number: int) -> tuple[Any, Any]:
    """Open a communicator on the first host and on the last one."""
    network = Lanai9 if hosts[0].host.card.has_chains else Lanai4
    made = []
    for one, other in ((hosts[0], hosts[-1]), (hosts[-1], hosts[0])):
        peer = other.me if member is Link else None
        net = one.network = getattr(one, "network", None) or network(one)
        made.append(Communicator(member, channel, over=net, protocols=list(one.protocols), number=number, peer=peer))
    return made[0], made[1]


async def _used(lab: Lab, host: Any, sends: list[Any]) -> float:
    """Return the mean CPU time of sends in us; each send begins after the effects of the previous one."""
    used = list[float]()
    for send in sends:
        cpu = CpuTime(host)
        await send
        used.append(cpu.used / 1e6)
        await lab.kernel.sleep(SETTLE_PS, "the message")
    lab.findings.messages += len(used)
    return statistics.mean(used)


async def _stream(lab: Lab, hosts: list[Any], member: Any, number: int) -> float:
    """Return half of a round trip of bytes over a Stream in us."""
    near, far = _ends(hosts, member, Stream, number)
    there, back = ((), ()) if member is Link else ((hosts[-1].me,), (hosts[0].me,))
    size, data = lab.option("size"), _data(lab)

    async def ask(number: int) -> None:
        await near.write(*there, data)
        lab.check("returned bytes", await near.read(*there, size) == data, "bytes returned corrupted")

    async def answer() -> None:
        await far.write(*back, await far.read(*back, size))

    return statistics.mean((await round_trips(lab, lab.option("repetitions"), ask, answer)).one_way_us)
