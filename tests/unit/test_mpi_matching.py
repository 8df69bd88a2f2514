"""Messages meet receives as the standard says, whatever comes first.

Strategy: random programs of four ranks, with all modes, wildcards and two communicators, are compared with a sequential
matcher (`tb/studies/_mpi_random.py`); that it can fail is shown with a matcher that is broken in the two ways that
matter. The rules one by one are in `test_mpi_messages.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.host.mpi import Mpi
from firmware.host.mpi.matching import Key, Matcher
from tb.studies._mpi_random import due, expected, programs, run_rank
from tests.unit.mpi_bench import World

RANKS = 4


def agree(operations: int, seed: int, on: str, **world: Any) -> None:
    """Run a random program and compare."""
    agrees(World(RANKS, on, seed, **world), operations, seed)


def agrees(world: World, operations: int, seed: int) -> None:
    """The same in a world of four ranks."""
    made = programs(RANKS, operations, seed)
    counts = due(made)

    async def rank(mpi: Mpi, number: int) -> Any:
        return await run_rank(mpi, made[number], counts[number])

    for number, (got, log) in enumerate(world.run(rank)):
        assert got == expected(number, made, log), f"rank {number}"


@pytest.mark.parametrize("on", ["grim", "via", "pipes", "lapi"])
def test_random_operations_equal_a_sequential_matcher(on: str) -> None:
    agree(200, 1, on)


@pytest.mark.parametrize(
    ("on", "nic", "below"),
    [
        ("grim", "lanai4", {"segment_bytes": 1024}),
        ("via", "lanai4", {"preset": "bvia2"}),
        ("via", "lanai9", {"preset": "bvia1"}),
        ("via", "lanai9", {"preset": "hwvia"}),
        ("via", "sp", {}),
        ("pipes", "sp", {}),
        ("pipes", "lanai4", {"window": 4}),
        ("lapi", "sp", {}),
        ("lapi", "lanai4", {"ack_packets": 3}),
    ],
)
def test_so_do_those_on_every_nic_and_every_implementation_of_the_layer_below(
    on: str, nic: str, below: dict[str, Any]
) -> None:
    agree(60, 2, on, nic=nic, below=below)


@pytest.mark.parametrize("queue", ["receives", "messages"])
def test_a_matcher_that_takes_the_youngest_is_found(queue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def youngest_receive(self: Any, message: Key) -> Any:
        fit = [one for one in self.receives if one.key.matches(message)]
        return _taken(self.receives, fit)

    def youngest_message(self: Any, receive: Key) -> Any:
        return _taken(self.messages, [one for one in self.messages if receive.matches(one.key)])

    if queue == "receives":
        monkeypatch.setattr(Matcher, "receive_for", youngest_receive)
    else:
        monkeypatch.setattr(Matcher, "message_for", youngest_message)
    with pytest.raises(AssertionError, match="rank"):
        agree(200, 1, "grim")


def _taken(queue: list[Any], fit: list[Any]) -> tuple[Any, int]:
    if fit:
        queue.remove(fit[-1])
    return (fit[-1] if fit else None), len(queue)
