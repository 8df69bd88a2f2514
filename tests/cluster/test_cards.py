"""A message from FPGA card to FPGA card: the NICs and the cards move it, the host CPUs do not.

Strategy: the circuit of the near card passes its result to the circuit of the far card. A link monitor decodes the
packets between the hosts, and the trace has the records of circuits and host CPUs. The far circuit's result returns to
a host, where it is compared with the model; this host's CPU must have records then.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import Timer

from firmware.grim.formats import Device
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import Forward
from pymodels.trace import Part, TraceEvent, unit
from tb.sanlab.cocotb import pytest_cases
from tests.cluster.pairs import grim_pair

CLUSTER = "two_cards"
MONITORS = "link"
PAYLOAD = b"from card to card"
CARDS = {"grim.channels": 2, "fpga.image_bytes": 640}
"""A channel for the card of each host, and a short image."""


@cocotb.test()
async def a_message_from_card_to_card_needs_no_host_cpu(dut: Any) -> None:
    results: list[tuple[int, bytes]] = []
    keep = {"result": lambda source, a0, a1, a2, a3, payload: results.append((a0, bytes(payload)))}
    cluster, paris, metz = await grim_pair(dut, keep, {}, settings=CARDS)
    library, there = paris.library, cluster.monitor("metz.link")
    own = [await library.get_resource(host.vnn, Device.CELOXICA) for host in (paris, metz)]
    loopback, crc32 = await library.resolve_handler("loopback"), await library.resolve_handler("crc32")
    home = await library.get_dest_id(paris.vnn), await library.resolve_handler("result")
    await library.forward(own[0], "loopback", Forward.ENDPOINT, own[1], crc32)
    await library.forward(own[1], "crc32", Forward.ENDPOINT, *home)
    await Timer(100, "us")  # the tables are set and the circuits are loaded
    before = len(there.transactions)
    await library.send(own[0], loopback, 42, payload=PAYLOAD)
    await library.wait_for(lambda: bool(results))
    assert results == [(42, CIRCUITS["crc32"]().run(42, PAYLOAD))]
    carried = [PAYLOAD in packet.wire for packet in there.transactions[before:]]
    assert carried.count(True) == 1, "one packet has the payload, from the near card to the far host"
    trace = cluster.lab.trace()
    given, taken = (
        trace["time"][(trace["unit"] == unit(host.vnn, Part.FPGA)) & (trace["event"] == event)][-1]
        for host, event in ((paris, TraceEvent.CARD_GIVE), (metz, TraceEvent.CARD_TAKE))
    )
    assert given < taken
    between = trace[(trace["time"] >= given) & (trace["time"] <= taken)]
    nics, cpus = ({unit(host.vnn, part) for host in (paris, metz)} for part in (Part.NIC_CPU, Part.HOST_CPU))
    assert nics <= set(between["unit"].tolist()), "the firmware of both NICs passes the message on"
    assert not cpus & set(between["unit"].tolist()), "no host CPU works between the two circuits"
    assert cpus & set(trace["unit"][trace["time"] > taken].tolist()), "a host CPU receives the result"
    await cluster.end()


test_cluster = pytest_cases(globals())
