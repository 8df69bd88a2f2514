"""Host verbs at the doorway: polling beside interrupts, and reused watches.

Strategy: the doorway's C library is compiled alone, as in test_bindings. A test acts as the hardware: it writes words
of host memory, appends the event of the watch, and lets simulated time run. The path `look_flag` has a known length, so
the end of every poll is computed by hand.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable

import pytest

from pymodels.costs.table import PathTable
from pymodels.hardware.discover import nic_kind
from pymodels.hardware.processors import HostProcessor
from pymodels.host import Moves
from pymodels.kernel import Kernel, Task
from pymodels.machine.memory import Memory
from pymodels.machine.spin import CpuTime, Look, Spin
from pymodels.trace import Part, unit
from tb.bind import watch
from tb.bind.actor import PathNumbers
from tb.bind.cpu import COMBINE, OP_STORE
from tb.bind.host import EVENT_WATCH, HostTiming, RtlHost
from tb.sim.doorway import Doorway
from tb.sim.exchange import COMMAND_BYTES, COMMANDS, EVENT, EVENT_BYTES

HOST = unit(0, Part.HOST_CPU)
STORE = struct.Struct("8x3q32s")
"""Command of a store without its time: operation, address, size with flags, bytes."""
MISS = 70
"""Time to fetch a changed polled word, ps."""


class Border:
    """Host at the doorway, and its hardware."""

    def __init__(self, doorway: Doorway, kernel: Kernel) -> None:
        self.doorway, self.kernel = doorway, kernel
        self.doorway.exchange.head[0] = self.doorway.exchange.tail[0] = 0
        self.memory = self.doorway.memory(0, 1 << 22, HOST)
        self.drain = self.doorway.drainer()
        self.moved: list[int] = []
        timing = HostTiming(1000.0, 500, 300, {}, (1, 1), MISS, HostProcessor(1.0, 1.0, 1.0, 0.0), 0.0)
        card = nic_kind("lanai9").card(1 << 21)
        self.host = doorway.backend(RtlHost)(
            0, "h", self.kernel, self.doorway, self.memory, 0, card, timing, PathNumbers(), 1
        )
        self.host.use(PathTable.load("host", "echo"))
        self.look = self.host._cost("look_flag", 1)[0]

    def at(self, time: int, address: int, slot: int) -> None:
        """Change the word at an address at a time, and report it by the slot that watches it."""
        self.kernel.at(time, lambda: self._write(address, slot))

    def _write(self, address: int, slot: int) -> None:
        self.memory[address : address + 4] = (1).to_bytes(4, "big")
        door = self.doorway.exchange
        EVENT.pack_into(door.events, door.head[0] * EVENT_BYTES, self.kernel.now, HOST, EVENT_WATCH, slot, 0)
        door.head[0] += 1
        self.drain()

    def write_watched(self, address: int) -> None:
        """Change the word at an address now, and report it by its slot if that is armed."""
        slot = self.host._words._slots[address]
        armed = self.doorway.armed(0)
        assert armed[slot]
        armed[slot] = 0
        self._write(address, slot)

    def poll(self, *addresses: int) -> Task:
        return self.host.spawn(self.host.poll([(address, 0) for address in addresses], "look_flag"), "poll")


@pytest.fixture(name="border")
def fixture_border(doorway: Doorway, kernel: Kernel) -> Border:
    return Border(doorway, kernel)


def test_a_poll_ends_when_the_spinning_loop_would_have_polled(border: Border) -> None:
    task, start = border.poll(0x1000, 0x2000), border.kernel.now
    border.at(start + 10 * border.look + 100, 0x2000, 1)
    border.kernel.run()
    assert task.finished.value == 1
    assert abs(border.kernel.now - (start + 12 * border.look + MISS)) <= 1
    assert border.host.cpu_ps == border.kernel.now - start
    assert not any(border.doorway.armed(0)), "no word is watched any longer"


def test_a_poll_ends_at_its_next_turn_when_its_words_move(border: Border) -> None:
    moves, start = Moves(), border.kernel.now
    task = border.host.spawn(border.host.poll([(0x1000, 0)], "look_flag", moves), "poll")
    border.kernel.at(start + 10 * border.look + 100, moves.moved)
    border.kernel.run()
    assert task.finished.done
    assert abs(border.kernel.now - (start + 11 * border.look + MISS)) <= 1


def test_an_interrupt_routine_stops_the_polling_loop_while_it_runs(border: Border) -> None:
    start, service = border.kernel.now, 1000 * border.look + 17
    task = border.poll(0x1000)

    def interrupt() -> None:
        border.host.spawn(border.host.cpu.run(service), "interrupt")

    border.kernel.at(start + 100, interrupt)
    border.at(start + 200, 0x1000, 0)
    border.kernel.run()
    assert task.finished.done
    assert abs(border.kernel.now - (start + border.look + service + MISS)) <= 3
    assert border.host.cpu_ps == border.kernel.now - start


def test_two_threads_that_poll_use_the_cpu_once(border: Border) -> None:
    start = border.kernel.now
    first, second = border.poll(0x1000), border.poll(0x2000)
    border.at(start + 5000, 0x1000, 0)
    border.at(start + 9000, 0x2000, 1)
    border.kernel.run()
    assert first.finished.done and second.finished.done
    assert border.host.cpu_ps == border.kernel.now - start


def test_further_words_use_slots_without_waiters(border: Border) -> None:
    for i in range(3 * watch.KEPT):
        address = 0x1000 + 64 * i
        task = border.poll(address)
        border.kernel.run_ready()
        slot = border.host._words._slots[address]
        assert slot < watch.KEPT
        border.at(border.kernel.now + 1000, address, slot)
        border.kernel.run()
        assert task.finished.done
    assert len(border.host._words._slots) == watch.KEPT


def test_more_words_than_the_kept_ones_can_be_polled_at_a_time(border: Border) -> None:
    addresses = [0x1000 + 8 * i for i in range(2 * watch.KEPT)]
    task = border.poll(*addresses)
    border.kernel.run_ready()
    assert sorted(border.host._words._slots.values()) == list(range(2 * watch.KEPT))
    border.at(border.kernel.now + 1000, addresses[-1], 2 * watch.KEPT - 1)
    border.kernel.run()
    assert task.finished.value == 2 * watch.KEPT - 1


Loop = Callable[[tuple[int, ...]], Awaitable[object]]


def order_of_looks(kernel: Kernel, loop: Loop, look: int, write: Callable[[], None]) -> list[int]:
    """Return the order in which three loops that poll one word detect its change.

    The first polls two other words before it; the others begin a little later and poll no other word.
    """
    seen: list[int] = []

    async def spin(number: int, addresses: tuple[int, ...]) -> None:
        await kernel.sleep(10 * number)
        await loop(addresses)
        seen.append(number)

    for number, addresses in enumerate([(0x2000, 0x3000, 0x1000), (0x1000,), (0x1000,)]):
        kernel.spawn(spin(number, addresses), "loop")
    kernel.at(6 * look + look // 2, write)
    kernel.run()
    return seen


def test_loops_that_poll_one_word_see_it_in_the_same_order_as_on_the_machine(border: Border) -> None:
    kernel, memory = Kernel(), Memory("memory", 1 << 16)
    cpu = CpuTime(kernel)

    async def on_machine(addresses: tuple[int, ...]) -> None:
        looks = [Look(address, 0, 0xFFFFFFFF, False, border.look) for address in addresses]
        await Spin(cpu, memory, looks, why="polling").run()

    async def here(addresses: tuple[int, ...]) -> None:
        await border.host.poll([(address, 0) for address in addresses], "look_flag")

    there = order_of_looks(kernel, on_machine, border.look, lambda: memory.store(0x1000, 1))
    assert order_of_looks(border.kernel, here, border.look, lambda: border.write_watched(0x1000)) == there == [1, 2, 0]


def test_a_continuing_loop_does_not_wake_others_that_poll_its_words(border: Border) -> None:
    start = border.kernel.now
    first, second = border.poll(0x1000, 0x2000), border.poll(0x2000)
    border.kernel.at(start + 5000, lambda: border.write_watched(0x1000))
    border.kernel.at(start + 500_000, lambda: border.write_watched(0x2000))
    border.kernel.at(start + 400_000, lambda: done.append((first.finished.done, second.finished.done)))
    done: list[tuple[bool, bool]] = []
    border.kernel.run()
    assert done == [(True, False)] and second.finished.value == 0


@pytest.mark.parametrize("store", ["words", "bytes"])
def test_a_store_of_the_hosts_own_ends_the_poll_of_another_task(border: Border, store: str) -> None:
    host, start = border.host, border.kernel.now
    task = border.poll(0x1000, 0x2004)
    stores = {"words": lambda: host.store_words(0x1FFC, (7, 7, 7)), "bytes": lambda: host.store_bytes(0x2007, b"x")}
    border.kernel.at(start + 10 * border.look + 100, stores[store])
    border.kernel.run()
    assert task.finished.value == 1
    assert abs(border.kernel.now - (start + 12 * border.look + MISS)) <= 1


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize(("size", "combine", "commands"), [(4, False, 1), (32, True, 1), (36, True, 2), (0, False, 0)])
def test_a_store_is_given_to_the_bridge_in_lines(
    border: Border, kind: Callable[[bytes], bytes], size: int, combine: bool, commands: int
) -> None:
    data, door, at = bytes(range(1, size + 1)), border.doorway.exchange, HOST * COMMANDS * COMMAND_BYTES
    first = door.given[HOST]
    border.host.spawn(border.host.pio_write(border.host.nic_base + 64, kind(data), combine), "store")
    border.kernel.run_ready()
    found = [STORE.unpack_from(door.rings, at + n % COMMANDS * COMMAND_BYTES) for n in range(first, door.given[HOST])]
    assert [(op, where - border.host.nic_base) for op, where, _, _ in found] == [
        (OP_STORE, 64 + 32 * n) for n in range(commands)
    ]
    assert b"".join(words[: length & 0xFF] for _, _, length, words in found) == data
    assert {bool(length & COMBINE) for _, _, length, _ in found} <= {combine}


@pytest.mark.parametrize(("offset", "size"), [(0, 3), (2, 4), (0, 33)])
def test_a_store_of_a_part_of_a_word_is_an_error(border: Border, offset: int, size: int) -> None:
    with pytest.raises(ValueError, match="programmed I/O moves whole words"):
        border.host.spawn(border.host.pio_write(border.host.nic_base + offset, bytes(size)), "store")
