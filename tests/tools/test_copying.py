"""Time of a copy by the host's CPU, to the picosecond, on each binding of the host's verbs.

Strategy: the doorway's C library is compiled alone. The same copies run on three hosts: the RTL's with its hot part in
C, the RTL's with that part in Python, and the machine's. The loop and memory overlap, so the longer of them decides.
The processor of an I/O card has the verbs of the RTL's host, and a time of a byte that is no integer.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tb.bind.cpu import LINE
from tb.bind.io_card import IO_TIMING, RtlIoProcessor
from tests.tools.hosts import BINDINGS, PATH, Bound

SIZES = (1, 31, 32, 33, 512, 1000, 4096)
LOOP_BYTE = PATH // LINE
"""Largest time of a byte at which memory is faster than the loop, at any size, ps."""


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("copy_byte", [0, 7, LOOP_BYTE, LOOP_BYTE + 2, 5000])
@pytest.mark.parametrize("level", ["host", "process"])
def test_a_copy_takes_the_longer_of_its_loop_and_memory(
    library: Path, monkeypatch: pytest.MonkeyPatch, binding: str, copy_byte: int, level: str
) -> None:
    bound = Bound(binding, library, monkeypatch, copy_byte=copy_byte)
    host, start, took, expected = bound.host, bound.kernel.now, list[int](), list[int]()
    who = host.process("app") if level == "process" else host
    target, source = (int(getattr(memory, "address", memory)) for memory in (who.allocate(4096), who.allocate(4096)))

    async def program() -> None:
        for size in SIZES:
            begin, used = bound.kernel.now, host.cpu_ps
            await who.copy_memory("look_flag", target, source, size)
            took.append(bound.kernel.now - begin)
            assert host.cpu_ps - used == took[-1]
            expected.append(max(-(-size // LINE) * PATH, size * copy_byte))

    bound.ends(program())
    assert took == expected
    ends = [start + sum(expected[:i]) for i in range(len(SIZES) + 1)]
    assert bound.stretches() == list(pairwise(ends))
    assert host.copied_bytes == sum(SIZES)


@pytest.mark.parametrize("binding", [binding for binding in BINDINGS if binding != "machine"])
@pytest.mark.parametrize("copy_byte", [IO_TIMING.copy_ps, 218.8])
def test_an_io_processor_copies_as_a_host_and_rounds_the_time_of_memory_once(
    library: Path, monkeypatch: pytest.MonkeyPatch, binding: str, copy_byte: float
) -> None:
    bound = Bound(binding, library, monkeypatch, copy_byte=copy_byte, verbs=RtlIoProcessor)
    memory = bound.host.allocate(8192).address

    async def program() -> None:
        for size in SIZES:
            await bound.host.copy_memory("look_flag", memory + 4096, memory, size)

    bound.ends(program())
    expected = [max(-(-size // LINE) * PATH, round(size * copy_byte)) for size in SIZES]
    assert [end - begin for begin, end in bound.stretches()] == expected
