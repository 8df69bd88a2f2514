"""Python side of the doorway: commands of the verbs in the rings, and received events.

Strategy: the doorway's C library is compiled alone, without a simulator. A test acts as the hardware: it reads the
command ring of a unit as C would, takes commands, appends events and lets the tasks run. It therefore observes all
traffic of the interface: commands, their order, and the number of wake-ups of Python.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware.verbs import Watch
from pymodels.costs.table import PathTable
from pymodels.errors import SanlabError
from pymodels.hardware.processors import NicProcessor
from pymodels.kernel import Kernel
from pymodels.trace import Part, unit
from tb.bind.actor import PathNumbers
from tb.bind.cpu import COMBINE, LINE, OP_STORE, QUIET, Cpu, CpuPort
from tb.bind.host import RtlHost
from tb.bind.lanai import OP_POLL, OP_READ, OP_WORK, OP_WRITE, RtlNic, RtlPollLoop
from tb.bind.lanai import QUIET as QUIET_WORK
from tb.nics.lanai4 import RtlNic4
from tb.sim.doorway import STEP_WORDS, STEPS, Doorway
from tb.sim.exchange import COMMAND_BYTES, COMMANDS, EVENT, EVENT_BYTES, EVENTS, Commands

UNIT, NIC = 5, unit(0, Part.NIC_CPU)


class Hardware:
    """Hardware side of the doorway."""

    def __init__(self, doorway: Doorway, kernel: Kernel) -> None:
        self.doorway, self.border, self.kernel = doorway, doorway.exchange, kernel
        for words in (self.border.given, self.border.taken):
            words[UNIT] = words[NIC] = 0
        self.border.head[0] = self.border.tail[0] = 0
        self.drain = doorway.drainer()
        doorway.turn[2] = 0

    def commands(self, unit: int, words: str = "2q") -> list[tuple[int, ...]]:
        """Take a unit's commands: opcode and the following words, without the time."""
        door, taken = self.border, []
        while door.taken[unit] != door.given[unit]:
            at = (unit * COMMANDS + door.taken[unit] % COMMANDS) * COMMAND_BYTES
            taken.append(struct.unpack_from(f"q{words}", door.rings, at + 8))
            door.taken[unit] = door.taken[unit] + 1 & 0xFFFFFFFF
        door.turn[2] = 0
        return taken

    def event(self, unit: int, code: int, a: int = 0) -> None:
        """Append an event, and run Python's turn."""
        door = self.border
        EVENT.pack_into(door.events, door.head[0] % EVENTS * EVENT_BYTES, self.kernel.now, unit, code, a, 0)
        door.head[0] += 1
        self.drain()
        self.kernel.run_ready()


@pytest.fixture(name="hardware")
def fixture_hardware(doorway: Doorway, kernel: Kernel) -> Hardware:
    """Return a doorway with empty rings, accessed from C and from Python."""
    return Hardware(doorway, kernel)


def commands_of(hardware: Hardware, data: int = 0) -> Commands:
    """Return the commands of UNIT, which event 32 ends one by one."""
    return hardware.doorway.commands(UNIT, hardware.kernel, (32,), lambda time, code, a, b: None, data)


def nic_of(hardware: Hardware) -> RtlNic:
    """Return the LANai of node 0 at the doorway."""
    sram = memoryview(bytearray(256))
    quick = hardware.doorway.backend(RtlNic)
    nic = quick(0, hardware.kernel, hardware.doorway, sram, NicProcessor(1, 1, 1, 0), PathNumbers())
    nic.use(PathTable.load("nic", "echo"))
    return nic


def test_a_unit_is_kicked_once_for_all_commands_in_its_ring(hardware: Hardware) -> None:
    give, turn = commands_of(hardware).give, hardware.doorway.turn
    for op in (7, 8, 9):
        give(op, 10 * op)
    assert list(turn[2:3]) + list(turn[8:9]) == [1, UNIT]
    assert hardware.commands(UNIT) == [(7, 70, 0), (8, 80, 0), (9, 90, 0)]
    give(4)
    assert turn[2] == 1, "the ring was empty: the clock may sleep"


def test_a_full_ring_is_an_error(hardware: Hardware) -> None:
    give = commands_of(hardware).give
    for _ in range(COMMANDS):
        give(1)
    with pytest.raises(SanlabError, match=f"command ring of unit {UNIT} is full"):
        give(1)


@pytest.mark.parametrize(("size", "waits"), [(4, 1), (32, 1), (100, 1), (65 * LINE, 2)])
def test_stores_go_out_line_by_line_and_only_the_last_wakes_the_cpu(hardware: Hardware, size: int, waits: int) -> None:
    cpu = hardware.doorway.backend(Cpu)(hardware.kernel)
    beside = hardware.kernel, lambda _: 0, memoryview(b"")
    port = CpuPort(commands_of(hardware, LINE), cpu, "host h", *beside)
    data = bytes(range(256)) * 16
    task = hardware.kernel.spawn(port.store(0x100, data[:size], True), "store")
    hardware.kernel.run_ready()
    seen = b""
    for _ in range(waits):
        assert not task.finished.done
        given = hardware.commands(UNIT, f"2q{LINE}s")
        for number, (op, address, flags, line) in enumerate(given):
            assert (op, address, bool(flags & COMBINE)) == (OP_STORE, 0x100 + len(seen), True)
            assert bool(flags & QUIET) == (number < len(given) - 1)
            seen += bytes(line)[: flags & 0xFF]
        hardware.event(UNIT, 32)
    assert seen == data[:size] and task.finished.done


def test_the_cpu_is_given_to_tasks_in_the_order_of_their_requests(hardware: Hardware) -> None:
    kernel, seen = hardware.kernel, list[tuple[str, int]]()
    cpu = hardware.doorway.backend(Cpu)(kernel)

    async def user(name: str, duration: int) -> None:
        await cpu.run(duration)
        seen.append((name, kernel.now))

    for name, duration in (("a", 100), ("b", 10), ("c", 10)):
        kernel.spawn(user(name, duration), name)
    kernel.run()
    assert seen == [("a", 101), ("b", 111), ("c", 121)]
    assert cpu.busy_ps == 120


def test_the_events_of_a_nic_end_its_commands_in_order(hardware: Hardware) -> None:
    nic, seen = nic_of(hardware), list[int]()

    async def program() -> None:
        await nic.work("send")
        nic.write(0x50, 3)
        seen.append(await nic.read(0x68))

    nic.spawn(program(), "program")
    hardware.kernel.run_ready()
    assert [command[0] for command in hardware.commands(nic.unit)] == [OP_WORK]
    hardware.event(nic.unit, 16)
    assert hardware.commands(nic.unit) == [(OP_WRITE, 0x50, 3), (OP_READ, 0x68, 0)]
    hardware.event(nic.unit, 18, 0xFFFF0001)
    assert seen == [0xFFFF0001]


def test_a_posted_path_is_quiet_and_the_next_command_follows_at_once(hardware: Hardware) -> None:
    nic = nic_of(hardware)

    async def program() -> None:
        nic.post("send")
        await nic.work("send")

    nic.spawn(program(), "program")
    hardware.kernel.run_ready()
    first, second = hardware.commands(nic.unit, "3q")
    assert first[:3] == second[:3] and first[3] == second[3] | QUIET_WORK


def test_a_polling_loop_continues_after_the_step_that_hit(hardware: Hardware) -> None:
    nic, hits = nic_of(hardware), list[int]()

    async def program() -> None:
        loop = nic.poll_loop([Watch(4 * i, 0, "send") for i in range(3)])
        for start in (None, None, 1):
            hits.append(await loop.run(start))

    nic.spawn(program(), "program")
    hardware.kernel.run_ready()
    for begins, hit in ((0, 2), (0, 1), (1, 0)):
        assert hardware.commands(nic.unit, "3q") == [(OP_POLL, 0, 3, begins)]
        hardware.event(nic.unit, 17, hit)
    assert hits == [2, 1, 0]


def test_records_of_software_are_in_the_trace_unchanged(hardware: Hardware) -> None:
    door, kernel = hardware.doorway, hardware.kernel
    door.trace_create(4)
    hardware.border.trace_count[0] = 0
    lost = door.trace_lost
    trace, kernel.now = door.recorder(UNIT, kernel), 12_345
    trace(0x30, 0xFFFF_FFFF, 7, -8, message=1 << 40)
    trace(0x31)
    door.record(9, UNIT + 1, 0xFFFF, 1, 2, 3)
    door.trace_on(False)
    trace(0x32)
    door.record(9, UNIT, 0x33, 0, 0, 0)
    door.trace_on(True)
    for event in (0x34, 0x35, 0x36):
        trace(event)
    fields = ["time", "unit", "event", "packet", "argument", "argument2", "message"]
    got = [tuple(record) for record in door.trace()[fields]]
    assert got[:3] == [
        (12_345, UNIT, 0x30, 0xFFFF_FFFF, 7, -8, 1 << 40),
        (12_345, UNIT, 0x31, 0, 0, 0, 0),
        (9, UNIT + 1, 0xFFFF, 1, 2, 3, 0),
    ]
    assert [record[2] for record in got[3:]] == [0x34]
    assert door.trace_lost - lost == 2


@pytest.mark.parametrize(
    "words", [(1 << 16,), (1, 1 << 32), (1, 0, -1), (1, 0, 0, 1 << 63), ("1",), (1, 2, 3, 4, 5), ()]
)
def test_a_record_that_does_not_fit_is_an_error(hardware: Hardware, words: tuple[int, ...]) -> None:
    hardware.doorway.trace_create(4)
    hardware.border.trace_count[0] = 0
    with pytest.raises((OverflowError, TypeError, struct.error)):
        hardware.doorway.recorder(UNIT, hardware.kernel)(*words)
    assert hardware.border.trace_count[0] == 0


@pytest.mark.parametrize("given", [{"message": -1}, {"message": "1"}, {"number": 1}])
def test_a_record_with_an_invalid_message_is_an_error(hardware: Hardware, given: dict[str, Any]) -> None:
    hardware.doorway.trace_create(4)
    hardware.border.trace_count[0] = 0
    with pytest.raises((OverflowError, TypeError, struct.error)):
        hardware.doorway.recorder(UNIT, hardware.kernel)(1, **given)
    assert hardware.border.trace_count[0] == 0


def test_events_without_a_receiver_and_lost_events_are_errors(hardware: Hardware) -> None:
    with pytest.raises(KeyError, match="77"):
        hardware.event(77, 20)
    hardware.border.tail[0] = hardware.border.head[0]
    hardware.border.lost[0] = 3
    try:
        with pytest.raises(SanlabError, match="3 hardware events were lost"):
            hardware.doorway.drainer()()
    finally:
        hardware.border.lost[0] = 0


def test_methods_of_c_exist_in_python_and_a_subclass_keeps_its_own(hardware: Hardware) -> None:
    for cls in (Kernel, RtlNic, RtlPollLoop, Cpu, RtlHost):
        quick = hardware.doorway.backend(cls)
        assert issubclass(quick, cls)
        methods = {name for name, method in vars(quick).items() if callable(method)}
        assert all(callable(getattr(cls, name)) for name in methods), cls
    below = hardware.doorway.backend(RtlNic4)
    assert (below.write, below.read) == (RtlNic4.write, RtlNic4.read)
    assert (below.work is RtlNic4.work) == (hardware.doorway.backend(Kernel) is Kernel)


def test_verbs_take_their_arguments_by_name_too(hardware: Hardware) -> None:
    nic = nic_of(hardware)
    nic.store(value=0xFEDC_BA98, address=8)
    nic.store_words(12, words=[1, 2])
    assert nic.load_words(count=3, address=8) == (0xFEDC_BA98, 1, 2) and nic.load(address=8) == 0xFEDC_BA98
    nic.write(value=3, register=0x50)
    nic.work("send", times=2)
    nic.work(times=2, path="send")
    written, one, other = hardware.commands(nic.unit, "3q")
    assert written[:3] == (OP_WRITE, 0x50, 3) and one == other
    with pytest.raises(TypeError):
        nic.work("send", time=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(("address", "value"), [(254, 1), (0, 1 << 32), (0, -1)])
def test_data_that_do_not_fit_into_sram_are_an_error(hardware: Hardware, address: int, value: int) -> None:
    with pytest.raises((IndexError, OverflowError, struct.error)):
        nic_of(hardware).store(address, value)


def test_only_a_polling_step_can_be_moved_to_another_word() -> None:
    steps = memoryview(bytearray(4 * STEP_WORDS * STEPS * 2)).cast("I")
    loop = RtlPollLoop(steps, cast(Commands, SimpleNamespace(ask=None)), Kernel(), 1, 3)
    loop.aim(2, 0x1230)
    loop.expect(2, 7)
    at = STEP_WORDS * (STEPS + 2)
    assert steps[at : at + 2].tolist() == [0x1230, 7]
    assert sum(steps) == 0x1230 + 7


def test_a_polling_loop_without_steps_is_rejected(hardware: Hardware) -> None:
    with pytest.raises(ValueError, match="polling loop without steps: it would never end"):
        nic_of(hardware).poll_loop([])
