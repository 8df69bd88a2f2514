"""Do nodes deadlock when handlers send requests, and does the request-reply rule prevent it?

Strategy: AM (paper 002). All hosts send each other more requests than may be outstanding, and each request causes
several messages in return. First the handlers follow the rule and reply: all hosts must finish. Then, with the rule
lifted, the same handlers send requests. Each waits for a reply that the other node sends only when its own handler has
finished. The reported waits are checked to form a cycle of the first two hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.stuck.watch import until_deadlock
from tb.studies.kit.hosts import start_in_turn

if TYPE_CHECKING:
    from firmware.am.host import Am, Call, Handler, Port
    from tb.stuck.report import HangReport

LAYER = "am"
UNDER_WAY = 4
"""Outstanding requests between two nodes (the rule of paper 002 reserves room for their replies only)."""
OPTIONS = {"requests": Option(2 * UNDER_WAY, "requests of each host to each other one", UNDER_WAY, 10_000)}


class Program:
    """Process on each host."""

    def __init__(self, layers: list[Am]) -> None:
        self.progress = 0
        """Number of handlers that have finished."""
        self.ports = [layer.open([self.answer, self.ask, self.take]) for layer in layers]

    async def take(self, call: Call) -> None:
        """Count a requested message."""
        self.progress += 1

    async def answer(self, call: Call) -> None:
        """Follow the rule: reply."""
        await call.reply(self.take)
        self.progress += 1

    async def ask(self, call: Call) -> None:
        """Break the rule: send more requests than may be outstanding."""
        for _ in range(UNDER_WAY + 1):
            await call.port.request(call.source, self.take)
        self.progress += 1

    async def flood(self, port: Port, handler: Handler, requests: int, expected: int) -> None:
        """Send all requests, then poll until all requests of all hosts are answered."""
        handled = port.handled + expected
        for _ in range(requests):
            for node in port.partners:
                await port.request(node, handler)
        await port.until(lambda: not port.unanswered and port.handled >= handled, "the end of all requests")


async def run(lab: Lab) -> None:
    """Run the study."""
    layers: list[Any] = lab.start_layer(LAYER, {"unrestricted": 1})
    await start_in_turn(layers)
    program = Program(layers)
    lab.check(
        "handlers that follow the rule",
        await part(lab, program, "with_rule", program.answer) is None,
        "handlers that follow the rule deadlocked",
    )
    lab.progress(1, 2, "parts")
    found = await part(lab, program, "without_rule", program.ask)
    lab.findings.messages += program.progress
    lab.check("deadlock without the rule", found is not None, "none, since too few requests crossed")
    if found is None:
        return
    here, there = (layer.host.who for layer in layers[:2])
    for waiter, holder in ((here, there), (there, here)):
        lab.check(
            "reported waits", found.waits(waiter, holder), f"the report does not say that {waiter} waits for {holder}"
        )


async def part(lab: Lab, program: Program, rule: str, handler: Handler) -> HangReport | None:
    """Let all hosts send requests to each other. Return the report of a deadlock, or None."""
    requests = lab.option("requests")
    expected = requests * (len(program.ports) - 1)
    floods = [lab.spawn(program.flood(port, handler, requests, expected), f"host {port.me}") for port in program.ports]
    found = await until_deadlock(lab, floods, progress=lambda: program.progress)
    lab.metric(f"blocked_{rule}", sum(not task.finished.done for task in floods))
    lab.metric(f"cycle_nodes_{rule}", len(found.units) if found else 0)
    return found
