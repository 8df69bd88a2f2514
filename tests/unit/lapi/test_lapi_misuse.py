"""Invalid calls of LAPI: each error names task, call and argument, and does not affect other calls.

Strategy: a table of calls with an invalid argument and their errors; calls at the wrong time; messages that are invalid
at their target, whose next call raises. After all of them puts still go both ways. The hang report names the tasks of
differing collective calls and of endless waits.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.lapi.host import Lapi, LapiError, Place, Query, Rmw
from firmware.lapi.options import Options
from firmware.options import OptionError
from pymodels.machine import MachineError
from tests.unit.lapi.lapi_bench import Tasks

Call = Callable[[Lapi, int], Awaitable[Any]]
"""Call of a task, given 4096 bytes of its memory."""
NOWHERE = 0x7000_0000

MISUSE: dict[str, tuple[Call, str]] = {
    "put to no task": (lambda lapi, m: lapi.Put(2, 4, m, m), "LAPI_Put, tgt 2: unknown task; give 0 to 1"),
    "put to a name": (lambda lapi, m: lapi.Put("1", 4, m, m), "LAPI_Put, tgt '1': unknown task"),  # type: ignore[arg-type]
    "put of less than nothing": (lambda lapi, m: lapi.Put(1, -1, m, m), "LAPI_Put, length -1: not an integer"),
    "put of too much": (lambda lapi, m: lapi.Put(1, 1 << 31, m, m), "LAPI_Put, length 2147483648: not an integer"),
    "put from nowhere": (
        lambda lapi, m: lapi.Put(1, 4, m, NOWHERE),
        "LAPI_Put, org_addr 0x70000000: 0x70000000: nothing is mapped there; give memory of this task's process",
    ),
    "put beyond the end": (lambda lapi, m: lapi.Put(1, 4097, m, m), "LAPI_Put, org_addr 0x10"),
    "put to address 0": (lambda lapi, m: lapi.Put(1, 4, 0, m), "LAPI_Put, tgt_addr 0: null address"),
    "put to too high": (lambda lapi, m: lapi.Put(1, 4, 1 << 32, m), "LAPI_Put, tgt_addr 4294967296: not an integer"),
    "put, target counter": (lambda lapi, m: lapi.Put(1, 4, m, m, 6), "LAPI_Put, tgt_cntr 0x6: not a multiple of 4"),
    "put, origin counter": (lambda lapi, m: lapi.Put(1, 4, m, m, 0, 8), "LAPI_Put, org_cntr 0x8: 0x8: nothing"),
    "put, completion counter": (lambda lapi, m: lapi.Put(1, 4, m, m, 0, 0, m + 1), "LAPI_Put, cmpl_cntr 0x10"),
    "get from no task": (lambda lapi, m: lapi.Get(-1, 4, m, m), "LAPI_Get, tgt -1: unknown task"),
    "get of less than nothing": (lambda lapi, m: lapi.Get(1, -4, m, m), "LAPI_Get, length -4: not an integer"),
    "get to nowhere": (lambda lapi, m: lapi.Get(1, 4, m, NOWHERE), "LAPI_Get, org_addr 0x70000000: 0x70000000"),
    "get from address 0": (lambda lapi, m: lapi.Get(1, 4, 0, m), "LAPI_Get, tgt_addr 0: null address"),
    "get, counters": (lambda lapi, m: lapi.Get(1, 4, m, m, 3), "LAPI_Get, tgt_cntr 0x3: not a multiple of 4"),
    "get, origin counter": (lambda lapi, m: lapi.Get(1, 4, m, m, 0, NOWHERE), "LAPI_Get, org_cntr 0x70000000: "),
    "amsend to no task": (lambda lapi, m: lapi.Amsend(9, 16, b"", 0), "LAPI_Amsend, tgt 9: unknown task"),
    "amsend without handler": (lambda lapi, m: lapi.Amsend(1, 0, b"", 0), "LAPI_Amsend, hdr_hdl 0: null address"),
    "amsend of words": (lambda lapi, m: lapi.Amsend(1, 16, "u", 1), "LAPI_Amsend, uhdr 'u': not a bytes-like"),  # type: ignore[arg-type]
    "amsend, short header": (lambda lapi, m: lapi.Amsend(1, 16, b"u", 2), "LAPI_Amsend, uhdr_len 2: uhdr has 1 bytes"),
    "amsend, long header": (lambda lapi, m: lapi.Amsend(1, 16, bytes(977), 977), "LAPI_Amsend, uhdr_len 977: not an"),
    "amsend from nowhere": (lambda lapi, m: lapi.Amsend(1, 16, b"", 0, 0, 4), "LAPI_Amsend, udata 0x0: 0x0: nothing"),
    "amsend, length": (lambda lapi, m: lapi.Amsend(1, 16, b"", 0, m, True), "LAPI_Amsend, length True: not an"),
    "amsend, counters": (lambda lapi, m: lapi.Amsend(1, 16, b"", 0, 0, 0, 5), "LAPI_Amsend, tgt_cntr 0x5: not a mu"),
    "rmw at no task": (lambda lapi, m: lapi.Rmw(Rmw.SWAP, 2, m, 1), "LAPI_Rmw, tgt 2: unknown task"),
    "rmw of nothing": (lambda lapi, m: lapi.Rmw(7, 1, m, 1), "LAPI_Rmw, op 7: unknown operation; give one of FETCH"),  # type: ignore[arg-type]
    "rmw at address 0": (lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, 0, 1), "LAPI_Rmw, tgt_var 0: null address"),
    "rmw of half a word": (
        lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, 6, 1),
        "LAPI_Rmw, tgt_var 0x6: not a multiple of 4",
    ),
    "rmw, value": (lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, m, 1 << 40), "LAPI_Rmw, in_val 1099511627776: not an"),
    "rmw, two values": (
        lambda lapi, m: lapi.Rmw(Rmw.COMPARE_AND_SWAP, 1, m, 1),
        "LAPI_Rmw, in_val 1: COMPARE_AND_SWAP takes two values; give (compared value, new value)",
    ),
    "rmw, prev": (lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, m, 1, m + 2), "LAPI_Rmw, prev 0x10"),
    "rmw, counter": (lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, m, 1, m, 4), "LAPI_Rmw, org_cntr 0x4: 0x4: nothing is"),
    "set no counter": (lambda lapi, m: lapi.Setcntr(0, 1), "LAPI_Setcntr, cntr 0: null address"),
    "set to a half": (lambda lapi, m: lapi.Setcntr(m, 0.5), "LAPI_Setcntr, val 0.5: not an integer"),  # type: ignore[arg-type]
    "read no counter": (lambda lapi, m: lapi.Getcntr(NOWHERE), "LAPI_Getcntr, cntr 0x70000000: 0x70000000: nothing"),
    "wait for no counter": (lambda lapi, m: lapi.Waitcntr(m + 2, 1), "LAPI_Waitcntr, cntr 0x10"),
    "wait for too much": (lambda lapi, m: lapi.Waitcntr(m, 1 << 31), "LAPI_Waitcntr, val 2147483648: not an"),
    "an address that is none": (lambda lapi, m: lapi.Address_init(-1), "LAPI_Address_init, my_addr -1: not an"),
    "ask for nothing": (lambda lapi, m: lapi.Qenv(9), "LAPI_Qenv, query 9: unknown query"),  # type: ignore[arg-type]
    "set what is fixed": (
        lambda lapi, m: lapi.Senv(Query.TASK_ID, 1),
        "LAPI_Senv, query <Query.TASK_ID: 0>: a read-only",
    ),
    "set too many": (lambda lapi, m: lapi.Senv(Query.ACK_PACKETS, 31), "LAPI_Senv, val 31: ACK_PACKETS is an int"),
    "set too soon": (lambda lapi, m: lapi.Senv(Query.TIMEOUT, 0), "LAPI_Senv, val 0: TIMEOUT is an integer in 50"),
    "initialize twice": (lambda lapi, m: lapi.Init(), "LAPI_Init: LAPI is initialized already; call it once"),
}


async def _put(lapi: Lapi, memory: list[int], word: bytes) -> None:
    """Put a word into the other task's memory."""
    other = 1 - lapi.me
    lapi.process.store_bytes(memory[lapi.me], word)
    await lapi.Put(other, 4, memory[other] + 8, memory[lapi.me])
    await lapi.Gfence()


def test_each_misuse_names_task_call_and_argument_and_does_not_affect_other_calls() -> None:
    tasks = Tasks()
    memory = [lapi.process.allocate(4096) for lapi in tasks.lapis]
    for call, text in MISUSE.values():
        with pytest.raises(LapiError, match="^" + re.escape(f"task 0, {text}")):
            tasks.run(call(tasks.lapis[0], memory[0]))
    tasks.all(lambda lapi: _put(lapi, memory, b"fine"))
    assert [lapi.process.load_bytes(at + 8, 4) for lapi, at in zip(tasks.lapis, memory, strict=True)] == 2 * [b"fine"]


BEFORE: dict[str, Call] = {
    "Put": lambda lapi, m: lapi.Put(1, 4, m, m),
    "Get": lambda lapi, m: lapi.Get(1, 4, m, m),
    "Amsend": lambda lapi, m: lapi.Amsend(1, 16, b"", 0),
    "Rmw": lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, m, 1),
    "Setcntr": lambda lapi, m: lapi.Setcntr(m, 1),
    "Getcntr": lambda lapi, m: lapi.Getcntr(m),
    "Waitcntr": lambda lapi, m: lapi.Waitcntr(m, 0),
    "Address_init": lambda lapi, m: lapi.Address_init(m),
    "Fence": lambda lapi, m: lapi.Fence(),
    "Gfence": lambda lapi, m: lapi.Gfence(),
    "Qenv": lambda lapi, m: lapi.Qenv(Query.TASK_ID),
    "Senv": lambda lapi, m: lapi.Senv(Query.TIMEOUT, 1000),
    "Term": lambda lapi, m: lapi.Term(),
}


def test_each_call_is_rejected_after_term_and_in_a_header_handler() -> None:
    tasks = Tasks()
    memory = [lapi.process.allocate(4096) for lapi in tasks.lapis]
    calls = iter(BEFORE.values())

    async def head(source: int, user: bytes, size: int) -> Place:
        await next(calls)(tasks.lapis[1], memory[1])
        return Place()

    handler = tasks.lapis[1].handler(head)
    for name in BEFORE:
        said = f"task 1, LAPI_Fence, hdr_hdl 0x8000000, LAPI_{name}: a header handler may not call LAPI"
        with pytest.raises(LapiError, match="^" + re.escape(said)):
            tasks.run(_refused_at_target(tasks.lapis[0], tasks.lapis[1], handler))
    tasks.all(lambda lapi: lapi.Gfence())
    tasks.all(lambda lapi: lapi.Term())
    for name, call in BEFORE.items():
        with pytest.raises(
            LapiError, match=f"^task 0, LAPI_{name}: LAPI is not initialized, or has ended; call it aft"
        ):
            tasks.run(call(tasks.lapis[0], memory[0]))


async def _refused_at_target(lapi: Lapi, other: Lapi, handler: int) -> None:
    """Send an active message that the other task processes."""
    await lapi.Amsend(1, handler, b"", 0)
    await other.host.sleep(1_000_000_000)
    await other.hal.poll()
    await other.Fence()


AT_TARGET: dict[str, tuple[Call, str]] = {
    "a handler that is not registered": (
        lambda lapi, m: lapi.Amsend(1, 0x0800_0010, b"", 0),
        "hdr_hdl 0x8000010 of task 0: no header handler is registered there; give an address that `handler`",
    ),
    "a handler that gives no place": (
        lambda lapi, m: lapi.Amsend(1, 0x0800_0000, b"", 0, m, 8),
        "the header handler's address 0x0 of task 0: nothing is mapped there; give memory of this task",
    ),
    "a put to nowhere": (
        lambda lapi, m: lapi.Put(1, 4, NOWHERE, m),
        "tgt_addr 0x70000000 of task 0: nothing is mapped there; give memory of this task",
    ),
    "a get from nowhere": (lambda lapi, m: lapi.Get(1, 4, NOWHERE, m), "tgt_addr 0x70000000 of task 0: nothing"),
    "an rmw of nowhere": (lambda lapi, m: lapi.Rmw(Rmw.SWAP, 1, NOWHERE, 1), "tgt_var 0x70000000 of task 0: nothing"),
    "a counter nowhere": (
        lambda lapi, m: lapi.Put(1, 0, 0, m, NOWHERE),
        "counter 0x70000000: nothing is mapped there; give the address of a counter of that task",
    ),
}


def test_an_invalid_message_is_raised_once_at_its_target() -> None:
    tasks = Tasks()
    memory = [lapi.process.allocate(4096) for lapi in tasks.lapis]

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place()

    tasks.lapis[1].handler(head)

    async def pair(lapi: Lapi, call: Call) -> None:
        if lapi.me == 0:
            await call(lapi, memory[0])
        else:
            await lapi.Waitcntr(memory[1], 1)

    for call, text in AT_TARGET.values():
        with pytest.raises(LapiError, match="^" + re.escape(f"task 1, LAPI_Waitcntr, {text}")):
            tasks.run(*(pair(lapi, call) for lapi in tasks.lapis))
    tasks.run(_served(tasks.lapis[1]), _put_and_wait(tasks.lapis[0], memory))
    assert tasks.lapis[1].process.load_bytes(memory[1] + 64, 4) == b"fine"


async def _served(lapi: Lapi) -> None:
    await lapi.hal.wait(lambda: False, lapi.host.now + 3_000_000_000)


async def _put_and_wait(lapi: Lapi, memory: list[int]) -> None:
    lapi.process.store_bytes(memory[0], b"fine")
    await lapi.Put(1, 4, memory[1] + 64, memory[0], 0, 0, memory[0] + 8)
    await lapi.Waitcntr(memory[0] + 8, 1)


def test_differing_collective_calls_are_reported() -> None:
    tasks = Tasks()
    with pytest.raises(
        LapiError, match=r"^task [01], LAPI_\w+: task [01] has called LAPI_\w+; let all tasks make the s"
    ):
        tasks.run(tasks.lapis[0].Gfence(), tasks.lapis[1].Address_init(1))


def test_the_hang_report_names_a_collective_call_that_not_all_tasks_make() -> None:
    tasks = Tasks()
    with pytest.raises(MachineError, match="host host0: task 0 waits for LAPI_Gfence of task 1"):
        tasks.run(tasks.lapis[0].Gfence(), within_us=20_000)


def test_the_hang_report_names_a_completion_handler_that_never_ends() -> None:
    tasks = Tasks()
    counter = tasks.lapis[1].process.allocate(4096)

    async def endless(lapi: Lapi, argument: object) -> None:
        await lapi.host.event("nothing").wait()

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place(0, endless)

    handler = tasks.lapis[1].handler(head)
    said = r"host host1: task 1 waits for the end of completion handler .*endless, of a message of task 0"
    with pytest.raises(MachineError, match=said) as error:
        tasks.run(
            tasks.lapis[0].Amsend(1, handler, b"", 0, 0, 0, counter),
            tasks.lapis[1].Waitcntr(counter, 1),
            within_us=20_000,
        )
    assert f"host host1: task 1 waits for counter 0x{counter:x} to become 1" in str(error.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"timeout": 1}, "unknown option 'timeout': lapi has no such option; did you mean 'timeout_us'?"),
        ({"ack_packets": 31}, "value out of range: lapi.ack_packets is 31; give 1 to 30"),
        ({"interrupt_set": 0.5}, "wrong type: lapi.interrupt_set is 0.5; give a whole number"),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, float], text: str) -> None:
    with pytest.raises(OptionError, match="^" + re.escape(text)):
        Options.from_values(options)
