"""What happens to messages for a host that is down: an error at the sender, a failed run, and no other host affected?

Strategy: once all hosts are enabled, one of them puts its NIC into reset. Another host sends alternately to it and to a
third one. Errors raised by its calls are counted. Without the time-out extension the failure cannot be detected, and
the run must hang.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from firmware.grim.host import GrimError
from pymodels.registers import Control
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up, serve_until

OPTIONS = {"messages": Option(6, "from the first host, half of them to the host that is down", 2, 1000),
           **layer_options("grim")}  # fmt: skip
SENDER, DOWN, OTHER = 0, 1, 2


async def run(lab: Lab) -> None:
    """Run the scenario."""
    libraries = lab.start_layer("grim")
    got: list[int] = []
    errors: list[str] = []
    due = lab.option("messages") // 2

    def on_data(source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        got.append(number)

    await bring_up(lab, libraries, [{"data": on_data} for _ in libraries])
    down = lab.running.hosts[DOWN]
    await down.pio_write(down.card.control, (1 << Control.LANAI_RESET_ON).to_bytes(4, "big"))
    lab.running.invariants.faults_expected = bool(lab.option("grim.timeout_us"))
    application = lab.spawn(_send(libraries[SENDER], 2 * due, errors), "the application")
    await serve_until(lab, [libraries[OTHER]], lambda: len(got) == due, also=[application])
    lab.findings.messages += len(got)
    lab.metric("delivered", len(got))
    lab.metric("errors", len(errors))
    lab.check("order of messages", got == sorted(got), f"out of order: {got}")
    for error in set(errors):
        lab.check("errors of sends", "VNN 1 does not answer: it is down" in error, error)


async def _send(library: Any, count: int, errors: list[str]) -> None:
    """Send alternately, then wait until all undeliverable messages are reported."""
    number = await library.resolve_handler("data")
    for sent in range(count):
        await _caught(errors, library.send(library.get_dest_id((OTHER, DOWN)[sent % 2]), number, sent))
    while len(errors) < count // 2:
        await _caught(errors, library.wait_for(lambda: False))


async def _caught(errors: list[str], call: Awaitable[None]) -> None:
    """Await a call and keep its error, including a report of an earlier failure."""
    try:
        await call
    except GrimError as error:
        errors.append(str(error))
