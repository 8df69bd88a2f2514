"""What does idle polling cost, of a word of the card against a word of host memory, and how long is a turn of it?

Strategy: a process runs alone on one host. It spins on a word of its memory, then on a word of the NIC's memory for the
same time, without any change. The trace has a record of each turn over the bus. The wall-clock times of both are
compared. On Verilator the turns of both are computed, except for the first reads of the card.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan, check_host

PATHS = "echo"
"""Layer whose path for polling a word is charged."""
OPTIONS = {"idle_us": Option(1000, "duration of idle polling of each word", 10, 1_000_000)}
QUICK = "idle_us=50"
PS, WORD = 1_000_000, 0x900
"""Picoseconds per microsecond; offset of a word in the first page of the card's memory."""


def check(plan: Plan) -> None:
    """Raise an error for a host whose processor is not in the path's cost table."""
    check_host(PATHS, plan.profile)


async def run(lab: Lab) -> None:
    """Run the study."""
    lab.running.use_layer(PATHS)
    host: Any = lab.running.hosts[0]
    app = host.process("app")
    memory, card, idle = app.allocate(4), app.map_nic(0) + WORD, lab.option("idle_us")
    old = await app.pio_read(card)

    lab.kernel.at(lab.kernel.now + PS * idle, lambda: app.store_words(memory, (1,)))
    begun = time.perf_counter()
    await app.poll([(memory, 0)], "look_flag")
    looked, since = time.perf_counter(), lab.kernel.now
    await app.poll_card(card, old, "look_flag", timeout_ns=1000 * idle)
    ended = time.perf_counter()

    trace = lab.trace()
    turns = trace[(trace["unit"] == unit(0, Part.HOST_CPU)) & (trace["event"] == TraceEvent.SPEND_END)]["time"]
    between = np.diff(turns[turns > since])
    lab.metric("card_turn_ns", float(between.mean()) / 1000)
    lab.metric("card_turn_ns_longest", float(between.max()) / 1000)
    lab.metric("wall_memory_us_per_ms", (looked - begun) * 1e9 / idle)
    lab.metric("wall_card_us_per_ms", (ended - looked) * 1e9 / idle)
