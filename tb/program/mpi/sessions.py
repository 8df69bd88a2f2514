"""Calls: sessions, their process sets, and communicators of groups.

The first session or MPI_Init starts MPI. A program that uses only sessions ends MPI at its exit; until then it may open
sessions again.
"""

from __future__ import annotations

import zlib

from firmware.mpi.host.comm import TAG_UB
from firmware.mpi.host.communicator import Comm
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.groups import Group
from firmware.mpi.host.intercomm import create_intercomm
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, NewComm, call
from tb.program.mpi.failures import call_handler
from tb.program.mpi.rank import AnyComm, Communicator, Rank, Session

WORLD, SELF = PROCESS_SETS = "mpi://WORLD", "mpi://SELF"
LEVELS = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")
"""Levels of thread support by number."""


@call("MPI_Session_init", anytime=True)
async def _init(rank: Rank, info: Handle, errhandler: Handle, session: Address) -> None:
    rank.errhandlers[errhandler]
    if not rank.mpi.engine.running:
        await rank.begin()
    wanted = rank.hints(info).get("thread_level", "")
    levels = [f"MPI_THREAD_{level}" for level in LEVELS]
    level = levels.index(wanted) if wanted in levels else abi.THREAD_SERIALIZED
    rank.threads = min(level, abi.THREAD_SERIALIZED)
    made = Session({"thread_level": levels[rank.threads]}, errhandler)
    made.handle = rank.sessions.new(made)
    rank.memory.put_ints(session, made.handle)


@call("MPI_Session_finalize")
async def _finalize(rank: Rank, session: Address) -> None:
    rank.sessions.pop(rank.memory.handles(session, 1)[0])
    rank.memory.put_ints(session, abi.SESSION_NULL)
    if not rank.sessions and rank.finalized:
        await rank.mpi.Finalize()


@call("MPI_Session_get_info")
async def _get_info(rank: Rank, session: Handle, info: Address) -> None:
    rank.memory.put_ints(info, rank.infos.new(dict(rank.session(session).info)))


@call("MPI_Session_get_num_psets")
async def _number(rank: Rank, session: Handle, info: Handle, count: Address) -> None:
    rank.session(session)
    rank.memory.put_ints(count, len(PROCESS_SETS))


@call("MPI_Session_get_nth_pset")
async def _nth(rank: Rank, session: Handle, info: Handle, number: int, length: Address, name: Address) -> None:
    """Write the name of a process set; a length of 0 requests only the length with terminator."""
    rank.session(session)
    if not 0 <= number < len(PROCESS_SETS):
        raise Misuse(
            ErrorClass.ARG,
            f"process set {number} of {len(PROCESS_SETS)}",
            "call MPI_Session_get_num_psets for their number",
        )
    found, room = PROCESS_SETS[number], rank.memory.ints(length, 1)[0]
    if room:
        rank.memory.put(name, found.encode()[: room - 1] + b"\0")
    rank.memory.put_ints(length, len(found) + 1)


@call("MPI_Session_get_pset_info")
async def _set_info(rank: Rank, session: Handle, name: Address, info: Address) -> None:
    group = _group(rank, session, name)
    rank.memory.put_ints(info, rank.infos.new({"mpi_size": str(group.Get_size())}))


@call("MPI_Group_from_session_pset")
async def _group_of(rank: Rank, session: Handle, name: Address, group: Address) -> None:
    rank.memory.put_ints(group, rank.groups.new(_group(rank, session, name)))


def _group(rank: Rank, session: int, name: Address) -> Group:
    """Return the ranks of a process set; case is ignored. Raises Misuse."""
    rank.session(session)
    engine, wanted = rank.mpi.engine, rank.memory.text(name)
    known = {one.lower(): one for one in PROCESS_SETS}
    if wanted.lower() not in known:
        raise Misuse(ErrorClass.ARG, f"unknown process set {wanted!r}", f"give one of {', '.join(PROCESS_SETS)}")
    return Group(engine, range(rank.ranks) if known[wanted.lower()] == WORLD else [engine.rank])


@call("MPI_Comm_create_from_group")
async def _comm_of(rank: Rank, group: Handle, tag: Address, info: Handle, errhandler: Handle, new: NewComm) -> None:
    made = await _of_group(rank, rank.groups[group], tag)
    _keep(rank, made, info, errhandler, new)


@call("MPI_Intercomm_create_from_groups")
async def _intercomm_of(
    rank: Rank,
    group: Handle,
    leader: int,
    remote_group: Handle,
    remote_leader: int,
    tag: Address,
    info: Handle,
    errhandler: Handle,
    new: NewComm,
) -> None:
    local, remote = await _of_group(rank, rank.groups[group], tag), rank.groups[remote_group].ranks
    if local is None or not 0 <= remote_leader < len(remote):
        raise Misuse(
            ErrorClass.GROUP, "the own rank or the remote leader is in neither group", "give groups that contain them"
        )
    bridge = rank.mpi.COMM_WORLD if local.rank == leader else None
    made = await create_intercomm(local, leader, bridge, remote[remote_leader], _number_of(rank, tag))
    _keep(rank, made, info, errhandler, new)


async def _of_group(rank: Rank, group: Group, tag: Address) -> Comm | None:
    """Return a communicator of a group; only the ranks of the group call this."""
    return await rank.mpi.COMM_WORLD.Create_group(group, _number_of(rank, tag))


def _number_of(rank: Rank, tag: Address) -> int:
    """Return a tag for a text."""
    return zlib.crc32(rank.memory.text(tag).encode()) & TAG_UB


def _keep(rank: Rank, made: AnyComm | None, info: int, errhandler: int, new: int) -> None:
    rank.errhandlers[errhandler]
    like = Communicator(rank.mpi.COMM_WORLD, errhandler=errhandler)
    handle = rank.keep(made, like)
    if made is not None:
        rank.comms[handle].info = dict(rank.hints(info))
    rank.memory.put_ints(new, handle)


@call("MPI_Session_set_errhandler")
async def _set_errhandler(rank: Rank, session: Handle, errhandler: Handle) -> None:
    rank.errhandlers[errhandler]
    rank.session(session).errhandler = errhandler


@call("MPI_Session_get_errhandler")
async def _get_errhandler(rank: Rank, session: Handle, errhandler: Address) -> None:
    rank.memory.put_ints(errhandler, rank.session(session).errhandler)


@call("MPI_Session_create_errhandler", anytime=True)
async def _create_errhandler(rank: Rank, function: Address, errhandler: Address) -> None:
    rank.memory.put_ints(errhandler, rank.errhandlers.new(function))


@call("MPI_Session_call_errhandler")
async def _call_errhandler(rank: Rank, session: Handle, code: int) -> None:
    await call_handler(rank, rank.session(session), code)
