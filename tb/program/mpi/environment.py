"""Calls: initialisation and end, clocks, memory."""

from __future__ import annotations

import struct

from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Aint, Count, Counts, Handle, call
from tb.program.mpi.rank import Rank

VERSION = "sanlab: MPI of a simulated host, by the binary interface of MPICH"


class Aborted(Exception):  # noqa: N818 - it never leaves the server
    """Call of MPI_Abort."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@call("MPI_Init", anytime=True)
async def _init(rank: Rank, argc: Address, argv: Address) -> None:
    await _initialize(rank)


async def _initialize(rank: Rank) -> None:
    """Begin MPI, unless a session has done so."""
    if rank.initialized or not rank.mpi.engine.running:
        await rank.begin()
    rank.initialized = True


@call("MPI_Init_thread", anytime=True)
async def _init_thread(rank: Rank, argc: Address, argv: Address, required: int, provided: Address) -> None:
    rank.threads = min(required, abi.THREAD_SERIALIZED)
    await _initialize(rank)
    rank.memory.put_ints(provided, rank.threads)


@call("MPI_Query_thread")
async def _query_thread(rank: Rank, provided: Address) -> None:
    rank.memory.put_ints(provided, rank.threads)


@call("MPI_Is_thread_main")
async def _is_thread_main(rank: Rank, flag: Address) -> None:
    rank.memory.put_ints(flag, 1)


@call("MPI_Initialized", anytime=True)
async def _initialized(rank: Rank, flag: Address) -> None:
    rank.memory.put_ints(flag, int(rank.initialized))


@call("MPI_Finalized", anytime=True)
async def _finalized(rank: Rank, flag: Address) -> None:
    rank.memory.put_ints(flag, int(rank.finalized))


@call("MPI_Finalize")
async def _finalize(rank: Rank) -> None:
    from tb.program.mpi.attributes import drop_attributes

    await drop_attributes(rank, abi.COMM_SELF, rank.comms[abi.COMM_SELF].attributes)
    if not rank.sessions:
        await rank.mpi.Finalize()
    rank.memory.forget()
    rank.finalized = True


@call("MPI_Abort", anytime=True)
async def _abort(rank: Rank, comm: Handle, code: int) -> None:
    raise Aborted(code)


@call("sanlab_begin", anytime=True)
async def _begin(rank: Rank, times: Address) -> None:
    """Write the present time, the cost of reading the clock, and the scale of CPU time for the library."""
    rank.memory.put(times, struct.pack("<qqd", rank.mpi.host.now, rank.look_ps, rank.cpu_ratio))


@call("sanlab_sleep", anytime=True)
async def _sleep(rank: Rank, ns: Aint) -> None:
    await rank.mpi.host.sleep(ns * 1000)


@call("MPI_Get_version", anytime=True)
async def _version(rank: Rank, version: Address, subversion: Address) -> None:
    rank.memory.put_ints(version, 3)
    rank.memory.put_ints(subversion, 1)


@call("MPI_Get_library_version", anytime=True)
async def _library_version(rank: Rank, version: Address, length: Address) -> None:
    rank.memory.put_text(version, length, VERSION, 8192)


@call("MPI_Get_processor_name")
async def _processor_name(rank: Rank, name: Address, length: Address) -> None:
    rank.memory.put_text(name, length, rank.mpi.host.name, abi.MAX_NAME)


@call("MPI_Buffer_attach")
async def _buffer_attach(rank: Rank, buffer: Address, size: Count) -> None:
    rank.mpi.Attach_buffer(size)
    rank.buffer = buffer


@call("MPI_Buffer_detach")
async def _buffer_detach(rank: Rank, buffer: Address, size: Counts) -> None:
    had = await rank.mpi.Detach_buffer()
    rank.memory.put_longs(buffer, rank.buffer)
    rank.put_count(size, had)


@call("MPI_Pcontrol", anytime=True)
async def _pcontrol(rank: Rank, level: int) -> None:
    """Do nothing."""


@call("MPI_Get_address", "MPI_Address", anytime=True)
async def _get_address(rank: Rank, location: Address, address: Address) -> None:
    rank.memory.put(address, location.to_bytes(8, "little"))
