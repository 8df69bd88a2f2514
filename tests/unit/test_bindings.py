"""The Python side of the doorway: what the verbs put into the rings, and how they take what comes back.

Strategy: the doorway's C library is compiled alone, without a simulator. A test plays the hardware: it reads the
command ring of a unit as C would, takes commands, appends events and lets the tasks run. So it sees exactly what
crosses the border: which commands, in which order, how many of them wake Python.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from firmware.verbs import Watch
from pymodels.costs.table import NicProcessor, PathTable
from pymodels.errors import SanlabError
from pymodels.kernel import Kernel
from pymodels.trace import Part, unit
from tb.bind.actor import PathNumbers
from tb.bind.cpu import COMBINE, LINE, OP_STORE, QUIET, Cpu, CpuPort
from tb.bind.lanai import OP_POLL, OP_READ, OP_WORK, OP_WRITE, RtlNic
from tb.bind.lanai import QUIET as QUIET_WORK
from tb.sim.compilers import compile_doorway
from tb.sim.doorway import COMMAND_BYTES, COMMANDS, EVENT, EVENT_BYTES, Doorway

UNIT, NIC = 5, unit(0, Part.NIC_CPU)


@pytest.fixture(name="library", scope="module")
def fixture_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled doorway."""
    folder = tmp_path_factory.mktemp("doorway")
    compile_doorway(folder)
    return folder / "libdoorway.so"


class Hardware:
    """The other side of the border."""

    def __init__(self) -> None:
        self.doorway = Doorway()
        self.kernel = Kernel()
        self.drain = self.doorway.drainer()

    def commands(self, unit: int, words: str = "2q") -> list[tuple[int, ...]]:
        """Take a unit's commands: op and the words that follow, without the time."""
        door, taken = self.doorway, []
        while door._taken[unit] != door._given[unit]:
            at = (unit * COMMANDS + door._taken[unit] % COMMANDS) * COMMAND_BYTES
            taken.append(struct.unpack_from(f"q{words}", door._commands, at + 8))
            door._taken[unit] = door._taken[unit] + 1 & 0xFFFFFFFF
        door.turn[2] = 0
        return taken

    def event(self, unit: int, code: int, a: int = 0) -> None:
        """Append an event, and let Python have its turn."""
        door = self.doorway
        EVENT.pack_into(door._events, door._head[0] * EVENT_BYTES, self.kernel.now, unit, code, a, 0)
        door._head[0] += 1
        self.drain()
        self.kernel.run_ready()


@pytest.fixture(name="hardware")
def fixture_hardware(library: Path, monkeypatch: pytest.MonkeyPatch) -> Hardware:
    """A border with empty rings."""
    monkeypatch.setenv("SANLAB_DOORWAY", str(library))
    hardware = Hardware()
    for words in (hardware.doorway._given, hardware.doorway._taken):
        words[UNIT] = words[NIC] = 0
    hardware.doorway._head[0] = hardware.doorway._tail[0] = 0
    hardware.drain = hardware.doorway.drainer()
    hardware.doorway.turn[2] = 0
    return hardware


def nic_of(hardware: Hardware) -> RtlNic:
    """The LANai of node 0 at the border."""
    sram = memoryview(bytearray(256))
    nic = RtlNic(0, hardware.kernel, hardware.doorway, sram, NicProcessor(1, 1, 1, 0), PathNumbers())
    nic.use(PathTable.load("nic", "echo"))
    return nic


def test_a_unit_is_kicked_once_for_all_that_waits_in_its_ring(hardware: Hardware) -> None:
    give, turn = hardware.doorway.giver(UNIT, "3q"), hardware.doorway.turn
    for op in (7, 8, 9):
        give(op, 10 * op)
    assert list(turn[2:3]) + list(turn[8:9]) == [1, UNIT]
    assert hardware.commands(UNIT) == [(7, 70, 0), (8, 80, 0), (9, 90, 0)]
    give(4)
    assert turn[2] == 1, "the ring was empty: the clock may sleep"


def test_a_full_ring_is_an_error(hardware: Hardware) -> None:
    give = hardware.doorway.giver(UNIT, "3q")
    for _ in range(COMMANDS):
        give(1)
    with pytest.raises(SanlabError, match=f"unit {UNIT} has too many commands waiting"):
        give(1)


@pytest.mark.parametrize(("size", "waits"), [(4, 1), (32, 1), (100, 1), (65 * LINE, 2)])
def test_stores_go_out_line_by_line_and_only_the_last_wakes_the_cpu(hardware: Hardware, size: int, waits: int) -> None:
    cpu = Cpu(hardware.kernel)
    port = CpuPort(hardware.kernel, hardware.doorway, UNIT, cpu)
    hardware.doorway.on_event(UNIT, lambda time, code, a, b: port.ended(a))
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


def test_the_cpu_goes_to_tasks_in_the_order_in_which_they_asked(hardware: Hardware) -> None:
    kernel, seen = hardware.kernel, list[tuple[str, int]]()
    cpu = Cpu(kernel)

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


def test_a_polling_loop_goes_on_behind_the_step_that_hit(hardware: Hardware) -> None:
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
