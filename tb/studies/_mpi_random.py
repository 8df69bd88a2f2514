"""Random programs of MPI, and what they must do: a sequential matcher that knows nothing of protocols or transports.

Every rank begins sends in all modes and receives with and without wildcards, in two communicators, and looks at its
requests now and then. Which of two senders comes first is the network's; so the order in which messages meet a rank's
queues is taken down, and the matcher, written from the standard's words alone, says which receive gets which message.
Messages of one sender in one communicator must have been taken down in the order of their sends.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firmware.host.mpi import ANY_SOURCE, ANY_TAG, Mpi, Request, Status

TAGS = 3
SIZES = (0, 1, 24, 300, 4095, 4096, 9000)
BUFFER = 1 << 20
"""Bytes for buffered sends."""
PAUSE_PS = 3_000_000


@dataclass(frozen=True)
class Send:
    """One message; `number` is that of its pair and communicator, `mode` the letter of the call."""

    comm: int
    dest: int
    tag: int
    size: int
    mode: str
    number: int

    def data(self, source: int) -> bytes:
        """Bytes that tell which message it is."""
        return bytes((self.number + 5 * source + 11 * self.comm + 3 * i + (i >> 8)) & 0xFF for i in range(self.size))


@dataclass(frozen=True)
class Receive:
    """A receive; `source` and `tag` may be any."""

    comm: int
    source: int
    tag: int


Operation = Send | Receive


def programs(ranks: int, operations: int, seed: int) -> list[list[Operation]]:
    """So many operations for all ranks together, by rank."""
    choose = random.Random(seed)
    found: list[list[Operation]] = [[] for _ in range(ranks)]
    numbers: dict[tuple[int, int, int], int] = {}
    for _ in range(operations):
        rank, comm = choose.randrange(ranks), choose.randrange(2)
        peer, tag = choose.randrange(ranks), choose.randrange(TAGS)
        if choose.random() < 0.5:
            pair = comm, rank, peer
            numbers[pair] = numbers.get(pair, 0) + 1
            mode = choose.choice(["", "", "s", "b"])
            found[rank].append(Send(comm, peer, tag, choose.choice(SIZES), mode, numbers[pair]))
        else:
            source = ANY_SOURCE if choose.random() < 0.4 else peer
            found[rank].append(Receive(comm, source, ANY_TAG if choose.random() < 0.4 else tag))
    return found


@dataclass
class Log:
    """What met the queues of a rank, in this order: messages (comm, source, tag) and receives with their number."""

    events: list[tuple[str, Any]] = field(default_factory=list)


def tap(mpi: Mpi, contexts: Sequence[int]) -> Log:
    """Take down what meets a rank's queues in the contexts of these communicators."""
    log, matcher = Log(), mpi.engine.matcher
    receive_for, message_for = matcher.receive_for, matcher.message_for

    def message(key: Any) -> Any:
        if key.context in contexts:
            log.events.append(("message", (contexts.index(key.context), key.source, key.tag)))
        return receive_for(key)

    def receive(key: Any) -> Any:
        if key.context in contexts:
            log.events.append(("receive", (contexts.index(key.context), key.source, key.tag)))
        return message_for(key)

    matcher.receive_for, matcher.message_for = message, receive  # type: ignore[method-assign, assignment]
    return log


Got = tuple[int, int, bytes] | None
"""Source, tag and data of what a receive got; None: it was cancelled without a message."""


async def run_rank(mpi: Mpi, program: Sequence[Operation], due: int) -> tuple[list[Got], Log]:
    """A rank's part; `due` messages are sent to it. What each receive got, in the order of posting, those of the end,
    which take what no receive of the program fits, included.
    """
    comms = [mpi.COMM_WORLD, await mpi.COMM_WORLD.Dup()]
    log = tap(mpi, [comm.context for comm in comms])
    mpi.Attach_buffer(BUFFER)
    await mpi.COMM_WORLD.Barrier()  # nobody sends before everybody takes down
    rank, sends = mpi.COMM_WORLD.Get_rank(), []
    posted: list[tuple[Request, bytearray, Status]] = []
    for number, one in enumerate(program):
        if isinstance(one, Send):
            begin = getattr(comms[one.comm], f"I{one.mode}send")
            sends.append(await begin(one.data(rank), one.dest, one.tag))
        else:
            room = bytearray(max(SIZES))
            posted.append((await comms[one.comm].Irecv(room, one.source, one.tag), room, Status()))
        if number % 7 == 0 and posted and posted[-1][0].active:
            await posted[-1][0].Test(posted[-1][2])
    while sum(request.done for request, _, _ in posted) < due:
        await _take_unfit(mpi, comms, posted)
    for request, _, status in posted:
        if not request.done:
            request.Cancel()
        if request.active:
            await request.Wait(status)
    await Request.Waitall(sends)
    await mpi.COMM_WORLD.Barrier()
    await mpi.Detach_buffer()
    told = [(status, bytes(room[: status.size])) for _, room, status in posted]
    return [None if status.cancelled else (status.source, status.tag, data) for status, data in told], log


async def _take_unfit(mpi: Mpi, comms: Sequence[Any], posted: list[tuple[Request, bytearray, Status]]) -> None:
    """Receive a message that is early, or wait a while."""
    for comm in comms:
        status = Status()
        if await comm.Iprobe(ANY_SOURCE, ANY_TAG, status):
            room = bytearray(max(SIZES))
            posted.append((await comm.Irecv(room, status.source, status.tag), room, Status()))
            return
    await mpi.host.sleep(PAUSE_PS, "a message that no receive fits")


def expected(rank: int, programs: Sequence[Sequence[Operation]], log: Log) -> list[Got]:
    """What the receives of a rank must get, by the standard's rules alone."""
    coming: dict[tuple[int, int], list[Send]] = {}
    for source, program in enumerate(programs):
        for one in program:
            if isinstance(one, Send) and one.dest == rank:
                coming.setdefault((one.comm, source), []).append(one)
    got: list[Got] = []
    early: list[tuple[int, Send]] = []
    waiting: list[tuple[int, tuple[int, int, int]]] = []
    for what, key in log.events:
        comm, source, tag = key
        if what == "message":
            sent = coming[comm, source].pop(0)
            if sent.tag != tag:
                raise AssertionError(f"rank {rank} met tag {tag} of rank {source} before tag {sent.tag}")
            fit = next((one for one in waiting if _fits(one[1], source, sent)), None)
            if fit is None:
                early.append((source, sent))
            else:
                waiting.remove(fit)
                got[fit[0]] = source, sent.tag, sent.data(source)
        else:
            got.append(None)
            found = next((one for one in early if _fits(key, *one)), None)
            if found is None:
                waiting.append((len(got) - 1, key))
            else:
                early.remove(found)
                got[-1] = found[0], found[1].tag, found[1].data(found[0])
    if early or any(coming.values()):
        raise AssertionError(f"rank {rank} has not received all that was sent to it")
    return got


def _fits(receive: tuple[int, int, int], source: int, sent: Send) -> bool:
    """Whether a receive takes a message; -1 is any."""
    comm, wanted, tag = receive
    return comm == sent.comm and wanted in (-1, source) and tag in (-1, sent.tag)


def due(programs: Sequence[Sequence[Operation]]) -> list[int]:
    """How many messages are sent to each rank."""
    found = [0] * len(programs)
    for program in programs:
        for one in program:
            if isinstance(one, Send):
                found[one.dest] += 1
    return found
