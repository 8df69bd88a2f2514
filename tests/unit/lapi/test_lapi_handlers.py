"""LAPI's handlers: threads they run on, and the bytes that cross the wire.

Strategy: tasks on a board with two routes a pair, on the machine. Context switches and copies are counted. A bit of a
user header and of data is flipped in memory in transit. Completion handlers call LAPI and wait in it, while the
application waits as well.
"""

from __future__ import annotations

import pytest

from firmware.lapi.host import Lapi, Place, Set
from firmware.lapi.host.handlers import CompletionHandler
from pymodels.host.scheduler import Scheduler
from pymodels.machine import MachineError
from tests.unit.lapi.lapi_bench import Buffers, Tasks, pattern


def scheduler(lapi: Lapi) -> Scheduler:
    """Return the scheduler of a task's host."""
    return lapi.process.host.scheduler


async def nothing(lapi: Lapi, argument: object) -> None:
    """Do nothing (completion handler)."""


@pytest.mark.parametrize(("name", "switches"), [("none", 0), ("of the program", 2), ("set here", 0), ("set there", 0)])
def test_only_a_completion_handler_of_the_program_costs_context_switches(name: str, switches: int) -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    handlers: dict[str, CompletionHandler | Set | None] = {
        "none": None,
        "of the program": nothing,
        "set here": Set(memory.here[1], 7),
        "set there": Set(memory.here[0], 7, at_sender=True),
    }

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place(memory.here[1] + 64, handlers[name])

    address = tasks.lapis[1].handler(head)

    async def program(lapi: Lapi) -> int:
        await lapi.Gfence()
        begun = scheduler(lapi).switches
        if lapi.me == 0:
            await lapi.Amsend(1, address, b"", 0, memory.out[0], 8, memory.counter(1, 0), 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 1)
        else:
            await lapi.Waitcntr(memory.counter(1, 0), 1)
        switched = scheduler(lapi).switches - begun
        await lapi.Gfence()
        return switched

    assert tasks.all(program) == [0, switches]
    assert tasks.machine.kernel.now < 300_000_000, "nothing waits for a time-out or a quantum"
    assert tasks.lapis[1].memory.word(memory.here[1]) == 7 * (name == "set here")
    assert tasks.lapis[0].memory.word(memory.here[0]) == 7 * (name == "set there")


def test_a_completion_handler_may_call_lapi_and_wait_while_the_application_waits() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    addresses = [0, 0]

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place(memory.here[1] if size else 0, answer, source)

    async def answer(lapi: Lapi, source: int) -> None:
        """Fetch what the sender has, and bring it back changed."""
        await lapi.Get(source, 3000, memory.out[source], memory.out[lapi.me], 0, memory.counter(lapi.me, 5))
        await lapi.Waitcntr(memory.counter(lapi.me, 5), 1)
        await lapi.Put(source, 3000, memory.here[source], memory.out[lapi.me], memory.counter(source, 1))
        await lapi.Fence()

    async def program(lapi: Lapi) -> None:
        addresses[:] = await lapi.Address_init(lapi.handler(head))
        if lapi.me == 0:
            lapi.process.store_bytes(memory.out[0], pattern(3000))
            for _ in range(3):
                await lapi.Amsend(1, addresses[1], b"", 0, 0, 0, memory.counter(1, 0))
            await lapi.Waitcntr(memory.counter(0, 1), 3)
        else:
            await lapi.Waitcntr(memory.counter(1, 0), 3)
        await lapi.Gfence()

    tasks.all(program)
    assert tasks.lapis[0].process.load_bytes(memory.here[0], 3000) == pattern(3000)


def test_a_polling_task_yields_to_a_completion_handler_that_computes() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)

    async def done(lapi: Lapi, source: int) -> None:
        await lapi.host.spend("lapi_whole", 100)
        await lapi.Put(source, 0, 0, 0, memory.counter(source, 1))

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place(0, done, source)

    address = tasks.lapis[1].handler(head)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Amsend(1, address, b"", 0, 0, 0)
            await lapi.Waitcntr(memory.counter(0, 1), 1)
            await lapi.Put(1, 0, 0, 0, memory.counter(1, 2))
        else:
            await lapi.Waitcntr(memory.counter(1, 2), 1)

    tasks.all(program)
    assert tasks.machine.kernel.now < 300_000_000, "nothing waits for a quantum"


def test_the_interrupt_routine_of_lapi_does_not_wait_for_further_packets() -> None:
    tasks = Tasks(interrupt_set=1)
    memory = Buffers(tasks)
    host = tasks.machine.host(1)

    async def program(lapi: Lapi) -> None:
        await lapi.Gfence()
        if lapi.me == 1:
            await lapi.host.sleep(50_000_000)
            before = host.cpu_ps
            await lapi.host.sleep(200_000_000)
            assert host.cpu_ps - before < 20_000_000
            assert lapi.memory.word(memory.counter(1, 0)) == 1
            return
        await lapi.host.sleep(100_000_000)
        await lapi.Put(1, 8, memory.here[1], memory.out[0], memory.counter(1, 0))

    tasks.all(program)


def test_a_completion_handler_waits_for_the_end_of_a_computing_applications_quantum() -> None:
    tasks = Tasks(interrupt_set=1)
    memory = Buffers(tasks)
    ran: list[int] = []

    async def done(lapi: Lapi, begun: int) -> None:
        ran.append(lapi.host.now - begun)

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place(0, done, tasks.lapis[1].host.now)

    address = tasks.lapis[1].handler(head)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Amsend(1, address, b"", 0, 0, 0, 0, 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 1)
        else:
            await lapi.process.compute(25_000_000)

    tasks.all(program)
    assert 9_000_000_000 < ran[0] < 11_000_000_000


@pytest.mark.parametrize(("size", "copied"), [(8, 8), (5000, 5000)])
def test_data_are_copied_once_on_each_side(size: int, copied: int) -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    bytes_of = [0, 0]
    for node in range(2):
        host = tasks.machine.host(node)
        copy = host.copy_memory

        async def counted(
            path: str, target: int, source: int, size: int, node: int = node, copy: object = copy
        ) -> None:
            bytes_of[node] += size
            await copy(path, target, source, size)  # type: ignore[operator]

        host.copy_memory = counted  # type: ignore[method-assign]

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Put(1, size, memory.here[1], memory.out[0], memory.counter(1, 0))
        else:
            await lapi.Waitcntr(memory.counter(1, 0), 1)
        await lapi.Gfence()

    tasks.all(program)
    assert bytes_of == [copied, copied]


def test_user_header_and_data_are_read_from_hals_buffer() -> None:
    tasks = Tasks(chips=0)
    memory = Buffers(tasks)
    came: list[bytes] = []

    async def head(source: int, user: bytes, size: int) -> Place:
        came.append(user)
        return Place(memory.here[1])

    address = tasks.lapis[1].handler(head)
    hal = tasks.bench.hals[1]
    take = tasks.lapis[1]._incoming.packet

    async def flipping(packet: object) -> None:
        view = packet.view  # type: ignore[attr-defined]
        if len(view) > 48:
            view[48] ^= 0x20
            view[-1] ^= 1
        await take(packet)  # type: ignore[arg-type]

    tasks.lapis[1]._incoming.packet = flipping  # type: ignore[method-assign]

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            lapi.process.store_bytes(memory.out[0], b"data")
            await lapi.Amsend(1, address, b"TAG", 3, memory.out[0], 4, memory.counter(1, 0))
        else:
            await lapi.Waitcntr(memory.counter(1, 0), 1)
        await lapi.Gfence()

    tasks.all(program)
    assert came == [b"tAG"] and hal.unclaimed == 0
    assert tasks.lapis[1].process.load_bytes(memory.here[1], 4) == b"dat`"


def test_a_task_that_starts_late_or_again_loses_no_message() -> None:
    tasks = Tasks(initialize=False)
    memory = Buffers(tasks)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Init()
            await lapi.Put(1, 4, memory.here[1], memory.out[0], memory.counter(1, 0))
        else:
            await lapi.host.sleep(3_000_000_000)
            await lapi.hal.poll()
            await lapi.Init()
            await lapi.Waitcntr(memory.counter(1, 0), 1)
        await lapi.Gfence()
        await lapi.Term()
        await lapi.Init()
        await lapi.Gfence()

    tasks.all(program)
    assert tasks.bench.hals[1].unclaimed > 1 and tasks.lapis[0].outgoing.resent == 1


def test_in_interrupt_mode_packets_of_a_computing_task_are_retransmitted() -> None:
    tasks = Tasks(interrupt_set=1)
    memory = Buffers(tasks)
    ends: list[int] = []
    tasks.machine.faults.drop(1, 0, tasks.machine.faults.passed(1, 0))

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Get(1, 100, memory.out[1], memory.here[0], 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 1)
        else:
            await lapi.process.compute(20_000_000)
        ends.append(lapi.me)

    tasks.all(program)
    assert ends == [0, 1] and tasks.lapis[1].outgoing.resent == 1


def test_the_hang_report_names_the_task_that_does_not_acknowledge() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)

    async def program(lapi: Lapi) -> None:
        await lapi.Put(1, 60_000, memory.here[1], memory.out[0], 0, memory.counter(0, 0))
        await lapi.Waitcntr(memory.counter(0, 0), 1)

    said = "host host0: task 0 waits for the acknowledgement of 32 packets: its window is full, held by host host1"
    with pytest.raises(MachineError, match=said):
        tasks.run(program(tasks.lapis[0]), within_us=5000)
