"""MPI on the machine: a program that every rank runs, over the layer that a test names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from firmware.host.mpi import ErrorClass, Mpi, MpiError
from firmware.layers import ClusterView, host_library, nic_program
from pymodels.machine import Machine

Program = Callable[[Mpi, int], Awaitable[Any]]


class World:
    """Ranks on hosts of one switch. Keywords are options of MPI, `below` those of the layer that it stands on."""

    def __init__(
        self,
        ranks: int = 2,
        on: str = "grim",
        seed: int = 1,
        nic: str = "lanai9",
        below: Mapping[str, Any] = MappingProxyType({}),
        **options: int,
    ) -> None:
        self.machine = machine = Machine(ranks, seed=seed, trace=False, nic=nic)
        self.ranks: list[Mpi] = []
        for node in range(ranks):
            beneath = ClusterView(**machine.view(node, **below))
            processor = machine.processor(node)
            processor.spawn(nic_program(on)(processor, beneath), on)
            view = ClusterView(**machine.view(node, on=on, **options))
            self.ranks.append(Mpi(machine.host(node), view, host_library(on)(machine.host(node), beneath)))

    def run(self, program: Program, finalize: bool = True, within_us: float = 1e6) -> list[Any]:
        """`MPI_Init`, `program(mpi, rank)`, `MPI_Finalize` on every rank; what it returned, by rank."""

        async def rank(number: int) -> Any:
            mpi = self.ranks[number]
            await mpi.Init()
            result = await program(mpi, number)
            if finalize:
                await mpi.Finalize()
            return result

        return self.machine.finish(*(rank(number) for number in range(len(self.ranks))), within_us=within_us)


def pattern(size: int, salt: int = 0) -> bytes:
    """Bytes that no other size and salt has."""
    return bytes((7 * i + (i >> 8) + size + 31 * salt) & 0xFF for i in range(size))


async def refused(call: Awaitable[Any], error_class: ErrorClass, said: str = "") -> MpiError:
    """A call must fail with this class."""
    with pytest.raises(MpiError, match=said or None) as error:
        await call
    assert error.value.error_class is error_class
    return error.value
