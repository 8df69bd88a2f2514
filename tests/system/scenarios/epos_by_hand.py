"""When does each message of EPOS end, composed and written by hand?

Strategy: every variant of every composition runs the same traffic in a copy of one booted simulation: two messages in
each direction, by stores and by DMA in two frames. Variants: `composed`; `counted`, which charges the cost of the paths
written by hand in C (`tests/unit/epos/byhand/`); `by_hand`, which uses the tests' own library and NIC program
(`byhand/library.py`, `byhand/program.py`) with these costs, for some compositions. Controls: `dynamic`, flags tested at
run time, and `waits`, a dummy at a point-cut that waits one clock. Metrics by composition and variant: the time of each
message, ps; one number each for the trace, the content of NIC memory, and wake-ups of Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from firmware.epos.host import Epos
from firmware.epos.nic import program
from firmware.epos.nic.pointcuts import Hooks, hooks
from firmware.layers import nic_program
from pymodels.costs import PathTable
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.apart import apart
from tb.lab.lab import Lab
from tb.plan.options import Option
from tests.unit.epos.byhand import program as program_by_hand
from tests.unit.epos.byhand.library import ByHand

OPTIONS = {"sets": Option("none", "compositions, one behind the other with commas; none: the baseline alone")}
LAYER = "epos"
SIZES = 64, 700
ORDER = ["time", "unit", "event", "packet", "argument", "argument2"]
"""Fields for sorting records: simulators may report events of one picosecond in different orders."""
Moment = tuple[int, Part, TraceEvent]
"""Node, its part, and event."""
INTERVALS: Mapping[str, tuple[Moment, Moment]] = {
    "host_send": ((0, Part.HOST_CPU, TraceEvent.SEND_CALL), (0, Part.HOST_CPU, TraceEvent.PAYLOAD_WRITTEN)),
    "nic_send": ((0, Part.NIC_CPU, TraceEvent.NIC_NOTICED), (0, Part.NIC_CPU, TraceEvent.NIC_SEND_START)),
    "nic_receive": ((1, Part.NIC_CPU, TraceEvent.NIC_RECV_START), (1, Part.NIC_CPU, TraceEvent.NIC_DMA_START)),
}
"""Parts of the first message's path without waits."""


async def run(lab: Lab) -> None:
    """Run the scenario."""
    for chosen in lab.text("sets").split(","):
        parts = tuple(name for name in chosen.split("+") if name != "none")
        by_hand = ["by_hand"] if parts in program_by_hand.SIDES else []
        controls = [] if parts else ["dynamic", "waits"]
        for variant in ["composed", "counted", *by_hand, *controls]:
            found = await apart(lab, partial(_traffic, lab, parts, variant), lambda error: {"failed": str(error)})
            lab.check(f"{chosen}, {variant}", found is not None and "failed" not in found, f"{found}")
            for name, value in (found or {}).items():
                if name != "failed":
                    lab.metric(f"{chosen}_{variant}_{name}", value)


async def _traffic(lab: Lab, parts: tuple[str, ...], variant: str) -> dict[str, int]:
    """Return the metrics of a run of a variant."""
    if variant == "waits":
        _spoil(lab)
    hosts = await _started(lab, parts, variant)
    begun, ends = lab.running.engine.cost.python_wakes, list[int]()
    for near, far in ((hosts[0], hosts[1]), (hosts[1], hosts[0])):
        for size in SIZES:
            sending = lab.spawn(near.send(far.me, bytes(range(1, 101)) * (size // 100) + bytes(size % 100)), "sender")
            message = await far.receive()
            lab.check("size of messages", len(message.data) == size, "a message is not whole")
            ends.append(lab.kernel.now)
            await lab.all([sending])
    wakes = lab.running.engine.cost.python_wakes - begun
    await lab.running.drain()
    lab.check("invariants", not lab.running.broken_invariants(), f"{lab.running.broken_invariants()}")
    trace = lab.running.doorway.trace()
    shown = {f"message_{number}_ps": end for number, end in enumerate(ends)}
    shown |= {"wakes": wakes, "records": len(trace), "trace": _number([np.sort(trace, order=ORDER).tobytes()])}
    shown["memory"] = _number(bytes(nic.sram) for nic in lab.running.nics)
    return shown | {f"{name}_ps": _between(trace, *moments) for name, moments in INTERVALS.items()}


async def _started(lab: Lab, parts: tuple[str, ...], variant: str) -> list[Epos]:
    """Return the started libraries of a variant."""
    dynamic = variant == "dynamic"
    composed = ("dynamic",) if dynamic else parts
    lab.running.use_layer(LAYER, composed={LAYER: composed})
    if variant in ("counted", "by_hand"):
        for side, actors in (("nic", lab.running.nics), ("host", lab.running.hosts)):
            hand = PathTable.load(side, f"{LAYER}/byhand", composition=parts).paths
            for actor in actors:
                actor.use(replace(actor.table, paths={**actor.table.paths, **hand}))
    options: dict[str, Any] = {"protocols": "+".join(parts), "dynamic": int(dynamic)}
    options |= {"mtu": 512, "slot_bytes": 2048, "least_mtu": 64}
    views = [lab.view(node, options) for node in range(len(lab.running.hosts))]
    nics = program_by_hand.main if variant == "by_hand" else nic_program(LAYER)
    library = ByHand if variant == "by_hand" else Epos
    for nic, view in zip(lab.running.nics, views, strict=True):
        nic.spawn(nics(nic, view), "epos program")
    hosts = [library(host, view) for host, view in zip(lab.running.hosts, views, strict=True)]
    await lab.all([lab.spawn(host.start(), f"start of {host.me}") for host in hosts])
    return hosts


def _spoil(lab: Lab) -> None:
    """Add a dummy at a point-cut of the NICs that waits one clock."""
    clock = lab.plan.profile.integer("clock.nic_ps")

    async def dummy(out: Any) -> bool:
        await lab.kernel.sleep(clock, "a dummy")
        return True

    def spoiled(side: str, protocols: Any) -> Hooks:
        return {name: (dummy,) if name == "tx" else calls for name, calls in hooks(side, protocols).items()}

    patch.object(program, "hooks", spoiled).start()


def _number(parts: Iterable[bytes]) -> int:
    """Return a 48-bit hash, which a metric can hold."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return int(found.hexdigest()[:12], 16)


def _between(trace: Any, *ends: Moment) -> int:
    """Return the time from the first event of one kind to the first of another, ps."""
    begin, end = (
        next(int(row["time"]) for row in trace[trace["event"] == event] if row["unit"] == unit(node, part))
        for node, part, event in ends
    )
    return end - begin
