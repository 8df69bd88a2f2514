"""Two hosts that are ready to send, for cluster tests, and what passes on a wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cocotb.triggers import ReadOnly

from pymodels.link.characters import DATA, Symbol
from tb.sanlab.cocotb import start
from tb.studies.grim._grim import bring_up


async def echo_pair(dut: Any, **settings: Any) -> tuple[Any, Any, Any]:
    """Start `echo` on two hosts and return the cluster, the first host and the last host."""
    cluster = await start(dut, layer="echo", **settings)
    near, far = cluster.hosts[0], cluster.hosts[-1]
    await near.library.start()
    await far.library.start()
    return cluster, near, far


async def grim_pair(dut: Any, near: Mapping[str, Any], far: Mapping[str, Any], **settings: Any) -> tuple[Any, Any, Any]:
    """Start `grim` on two hosts with their handlers by name, and return the cluster and the hosts."""
    cluster = await start(dut, layer="grim", **settings)
    libraries = [host.library.unwrapped for host in cluster.hosts]
    await cluster.call(bring_up(cluster.lab, libraries, [near, far]))
    return cluster, cluster.hosts[0], cluster.hosts[1]


async def packets(wire: Any, into: list[bytes]) -> None:
    """Append the bytes of each packet that passes on a wire of 9 bits, without its GAP."""
    data = bytearray()
    while True:
        await wire.value_change
        await ReadOnly()
        character = int(wire.value)
        if character & DATA:
            data.append(character & 0xFF)
        elif character == Symbol.GAP:
            into.append(bytes(data))
            data.clear()
