"""GRIM's library as a composition of parts: it inherits from none, has all of their calls, and each part works alone.

Strategy: the calls are compared with those listed on the library's page. Parts are made on a machine without a NIC
program, with nothing but the arguments of their constructors.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firmware.grim.host import Grim, GrimError
from firmware.grim.host.api import Api
from firmware.grim.host.calls import Calls
from firmware.grim.host.memory import Block, PinnedMemory
from firmware.grim.host.reserved import ReservedMemory
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from pymodels.machine import Machine
from tests.unit.grim.grim_bench import Bench

PAGE = Path(__file__).parents[3] / "firmware" / "grim" / "host" / "README.md"
LAYOUT = Layout(Options(), 2, 1 << 20)


def test_the_library_inherits_its_api_alone_and_has_every_call_of_its_page() -> None:
    library = Bench(2, start_nics=False).libraries[0]
    table = PAGE.read_text(encoding="utf-8").split("| call |")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    names = [name for cell in cells for name in re.findall(r"(?<!option )`(?:await )?(\w+)[(`]", cell)]
    assert Grim.__mro__ == (Grim, Api, object)
    assert len(names) > 35
    assert [name for name in names if not hasattr(library, name)] == []


def test_memory_is_registered_and_freed_without_a_library() -> None:
    machine = Machine(nodes=2, seed=1, trace=False)
    memory, forgotten = PinnedMemory(machine.host(0), LAYOUT, 4, 1), list[int]()

    async def program() -> None:
        address = await memory.allocate(1000)

        async def forget(block: Block) -> None:
            forgotten.append(block.va)
            assert await memory.allocate(1000) != address, "somebody else had it before the driver forgot it"

        await memory.free(address, forget)
        assert forgotten == [address]
        assert await memory.allocate(1000) == address

    machine.finish(program(), within_us=1000)


def test_ni_memory_is_reserved_before_the_library_is_enabled() -> None:
    calls = Calls()
    reserved = ReservedMemory(Machine(nodes=2, seed=1, trace=False).host(0), LAYOUT, calls)
    with pytest.raises(GrimError, match="has not completed"):
        reserved.get_reserved_ni_memory()
    calls.enabling = True
    with pytest.raises(GrimError, match="was called before"):
        reserved.reserve_ni_memory(4096)
