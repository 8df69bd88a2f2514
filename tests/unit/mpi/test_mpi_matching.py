"""Matching of messages and receives by the standard, in any order of arrival.

Strategy: random programs of four ranks (`tb/studies/mpi/_mpi_items.py`): all modes, blocking, non-blocking and
persistent, wildcards, probes, datatypes, split communicators, collectives. They are compared with a sequential
reference and with expected results of collectives. Code with one injected fault at a time must be detected.
`test_mpi_messages.py` tests the rules one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware.mpi.host import MpiError
from firmware.mpi.host.buffers import View
from firmware.mpi.host.engine import Engine
from firmware.mpi.host.matching import Key, Matcher
from firmware.mpi.host.message import Message
from firmware.mpi.host.reducing import Reducing
from pymodels.machine import MachineError
from tb.studies.mpi._mpi_random import RandomProgram, items_of
from tests.unit.mpi.mpi_bench import World

RANKS = 4


def agree(operations: int, seed: int, on: str, **world: Any) -> None:
    """Run a random program and compare."""
    agrees(World(RANKS, on, seed, **world), operations, seed)


def agrees(world: World, operations: int, seed: int) -> None:
    """Run a random program of four ranks and compare."""
    program = RandomProgram(items_of(seed, operations, RANKS), RANKS)
    world.run(program.run, within_us=1e8)
    assert program.wrong() == []
    assert program.calls > operations // 2


@pytest.mark.parametrize("on", ["grim", "via", "pipes", "lapi"])
def test_random_operations_equal_the_sequential_reference(on: str) -> None:
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
def test_random_operations_agree_on_every_nic_and_every_layer_below(on: str, nic: str, below: dict[str, Any]) -> None:
    agree(60, 2, on, nic=nic, below=below)


def youngest(queue: list[Any], fit: list[Any]) -> tuple[Any, int]:
    """Remove and return the last matching entry of a queue."""
    if fit:
        queue.remove(fit[-1])
    return (fit[-1] if fit else None), len(queue)


def receive_of_the_youngest(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: a message goes to the receive posted last."""

    def receive_for(self: Any, message: Key) -> Any:
        return youngest(self.receives, [one for one in self.receives if one.key.matches(message)])

    patch.setattr(Matcher, "receive_for", receive_for)


def message_arrived_last(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: a receive takes the message that arrived last."""

    def message_for(self: Any, receive: Key) -> Any:
        return youngest(self.messages, [one for one in self.messages if receive.matches(one.key)])

    patch.setattr(Matcher, "message_for", message_for)


def probe_of_the_last(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: a probe reports the message that arrived last."""
    message_for = Matcher.message_for

    def probe(self: Any, receive: Key) -> Any:
        fit = [one for one in self.messages if receive.matches(one.key)]
        return (fit[-1] if fit else None), len(self.messages)

    def first(self: Any, receive: Key) -> Any:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(Matcher, "probe", real)
            return message_for(self, receive)

    real = Matcher.probe
    patch.setattr(Matcher, "probe", probe)
    patch.setattr(Matcher, "message_for", first)


def gap_of_a_datatype_written(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: a byte between two blocks changes."""
    fill = View.fill

    def filled(self: View, data: bytes) -> None:
        fill(self, data)
        if not self.contiguous and len(data):
            self.data[6] ^= 1

    patch.setattr(View, "fill", filled)


def truncation_without_an_error(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: a message that is too long is cut without an error."""
    deliver = Message.deliver

    async def silent(self: Any) -> None:
        await deliver(self)
        self.receive.error = None

    patch.setattr(Message, "deliver", silent)


def send_complete_too_early(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: a rendezvous send completes before its data are sent."""
    send = Engine.send

    async def over(self: Any, operation: Any, mode: Any) -> None:
        await send(self, operation, mode)
        operation.finish()

    patch.setattr(Engine, "send", over)


def exchanged_operands(patch: pytest.MonkeyPatch) -> None:
    """Inject a fault: the operands of an operator are exchanged."""
    fold = Reducing._fold

    async def turned(self: Any, op: Any, left: Any, right: Any) -> Any:
        return await fold(self, op, right, left)

    patch.setattr(Reducing, "_fold", turned)


@pytest.mark.parametrize(
    "broken",
    [
        receive_of_the_youngest,
        message_arrived_last,
        probe_of_the_last,
        gap_of_a_datatype_written,
        truncation_without_an_error,
        send_complete_too_early,
        exchanged_operands,
    ],
)
def test_injected_faults_are_detected(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    assert any(goes_wrong(seed) for seed in (1, 2))


def goes_wrong(seed: int) -> bool:
    """Return True if a random program detects the fault."""
    program = RandomProgram(items_of(seed, 150, RANKS), RANKS)
    try:
        World(RANKS, "grim", seed).run(program.run, within_us=1e7)
    except (MpiError, MachineError):
        return True
    return program.wrong() != []
