"""Level interrupts on each binding of the host's verbs, beside software that uses the CPU.

Strategy: as `test_computing`: the host of the RTL, its hot part in C and in Python, and the host of the machine. The
line rises again while it is released, moved over every step of the window, while a program computes, polls and enters
the kernel. On all bindings the same services must begin at the same time, and none may be missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.hosts import BINDINGS, ENTRY, LATENCY, Bound

RELEASED = 260
"""Time from the start of the interrupt routine until its clear arrives at the card, within the routine, ps."""


def serve(bound: Bound, rise: int, released: int = RELEASED) -> list[int]:
    """Raise the line at 1001 ps, and again `rise` ps after its release; return the start of each service."""
    start, begun, end = bound.kernel.now, list[int](), list[int]()

    async def routine() -> None:
        begun.append(bound.kernel.now - start)
        bound.kernel.at(bound.kernel.now + released, lambda: bound.interrupt(False))
        if len(begun) == 1:
            bound.kernel.at(bound.kernel.now + released + rise, lambda: bound.interrupt(True))
        await bound.host.syscall()

    async def program() -> None:
        await bound.host.compute(2)
        await bound.host.syscall()
        await bound.host.compute(2)
        end.append(bound.kernel.now - start)

    bound.host.on_interrupt(routine)
    bound.kernel.at(start + 1000, lambda: bound.interrupt(True))
    bound.host.spawn(program(), "program")
    bound.kernel.run()
    return [*begun, *end]


@pytest.mark.parametrize("released", [RELEASED, ENTRY + 100], ids=["within the routine", "behind it"])
def test_the_same_services_begin_on_all_bindings_at_every_phase(
    released: int, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = [Bound(binding, library, monkeypatch) for binding in BINDINGS]
    for rise in range(2, 2 * ENTRY, 2):
        found = [serve(bound, rise, released) for bound in bounds]
        assert found[0] == found[1] == found[2], f"the line rises {rise} ps after its release"
        first, second, _ = found[0]
        assert first == 1000 + LATENCY
        assert second >= max(first + ENTRY, first + released + rise) + LATENCY


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_line_that_is_not_released_is_served_again(
    binding: str, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Assert the interrupt in the clock in which the host clears it: the line never falls."""
    bound = Bound(binding, library, monkeypatch)
    served = list[int]()

    async def routine() -> None:
        served.append(bound.kernel.now)
        await bound.host.syscall()
        if len(served) == 2:
            bound.interrupt(False)

    bound.host.on_interrupt(routine)
    bound.kernel.at(1000, lambda: bound.interrupt(True))
    bound.kernel.run()
    assert len(served) == 2 and served[1] - served[0] in range(ENTRY + LATENCY, ENTRY + LATENCY + 3)
