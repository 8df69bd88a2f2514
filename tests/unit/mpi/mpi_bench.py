"""Bench for MPI on the pure-Python machine: a program on every rank, over the layer that a test names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from firmware.layers import nic_program
from firmware.mpi.host import ErrorClass, Mpi, MpiError
from firmware.stack import Libraries
from firmware.view import ClusterView
from pymodels.builders import board, host_names
from pymodels.machine import Machine
from pymodels.updown import up_down

Program = Callable[[Mpi, int], Awaitable[Any]]


class World:
    """Ranks on hosts of one switch. Keywords are options of MPI; `below` holds those of the layer below."""

    def __init__(
        self,
        ranks: int = 2,
        on: str = "grim",
        seed: int = 1,
        nic: str = "lanai9",
        below: Mapping[str, Any] = MappingProxyType({}),
        chips: int = 0,
        trace: bool = False,
        **options: int | str,
    ) -> None:
        """Create the ranks. `chips`: node chips of an SP board, with a host each, and routes a pair; 0: one switch."""
        network: dict[str, Any] = {}
        if chips:
            topology = board(host_names(ranks), chips=chips)
            network = {"topology": topology, "routes": up_down(topology, most=chips)}
        self.machine = machine = Machine(ranks, seed=seed, trace=trace, nic=nic, **network)
        given: dict[str, Mapping[str, Any]] = {"mpi": {"on": on, **options}, on: below}
        self.ranks: list[Mpi] = [
            Libraries(machine.host(node), *self._parts(node, given)).start("mpi") for node in range(ranks)
        ]

    def _parts(self, node: int, given: Mapping[str, Mapping[str, Any]]) -> tuple[Any, Any]:
        """Return the view of a layer on a node and the firmware to start on its NIC."""
        machine = self.machine

        def view(layer: str, more: Mapping[str, Any]) -> ClusterView:
            return ClusterView(**machine.view(node, **{**given.get(layer, {}), **more}))

        def program(layer: str, told: ClusterView) -> ClusterView:
            processor = machine.processor(node)
            processor.spawn(nic_program(layer)(processor, told), layer)
            return told

        return view, program

    def run(self, program: Program, finalize: bool = True, within_us: float = 1e6) -> list[Any]:
        """Run `MPI_Init`, `program(mpi, rank)` and `MPI_Finalize` on every rank. Return the results by rank."""

        async def rank(number: int) -> Any:
            mpi = self.ranks[number]
            await mpi.Init()
            result = await program(mpi, number)
            if finalize:
                await mpi.Finalize()
            return result

        return self.machine.finish(*(rank(number) for number in range(len(self.ranks))), within_us=within_us)


def pattern(size: int, salt: int = 0) -> bytes:
    """Return bytes that differ for each size and salt."""
    return bytes((7 * i + (i >> 8) + size + 31 * salt) & 0xFF for i in range(size))


async def refused(call: Awaitable[Any], error_class: ErrorClass, said: str = "") -> MpiError:
    """Check that a call fails with an error class."""
    with pytest.raises(MpiError, match=said or None) as error:
        await call
    assert error.value.error_class is error_class
    return error.value
