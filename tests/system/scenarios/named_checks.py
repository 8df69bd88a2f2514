"""Which test cases does a run leave whose checks fail, or that ends abnormally after some checks?"""

from __future__ import annotations

import os
import signal

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.hosts import start_in_turn
from tb.studies.kit.payload import numbered
from tb.studies.kit.rounds import round_trips

OPTIONS = {"end": Option("passes", "end of the run", choices=("passes", "fails", "twice", "raises", "hangs", "killed"))}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    near, far = lab.start_layer("echo")
    await start_in_turn([near, far])
    end = lab.text("end")

    async def ask(number: int) -> None:
        data = numbered(8, number)
        await near.send(1, data)
        same = await near.receive() == (1, data)
        lab.check("returned bytes", same and not (end == "fails" and number), f"message {number} <&\x07> corrupted")

    await round_trips(lab, 3, ask, far.echo)
    lab.check("number of answers", True)
    if end == "twice":
        lab.check("returned bytes", True)
    if end == "raises":
        raise RuntimeError("no more paper")
    if end == "killed":
        lab.spawn(_kill(lab), "killer")
    if end in ("hangs", "killed"):
        await near.receive()


async def _kill(lab: Lab) -> None:
    """Let the watchdog note what the run waits for, then kill the simulator."""
    before = os.path.getmtime("results.xml")
    while os.path.getmtime("results.xml") == before:
        await lab.kernel.sleep(1_000_000)
    os.kill(os.getpid(), signal.SIGKILL)
