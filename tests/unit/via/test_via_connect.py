"""Establishing and ending connections with packet loss.

Strategy: packets of the kernel agents are lost one by one; both ends must agree in every case, and within the time
limit. Further cases: several clients of one discriminator, a VI that is connected again after a disconnect, unequal
attributes, a rejection.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, VipError
from firmware.via.nic.layout import State
from pymodels.host.scheduler import QUANTUM_PS
from pymodels.machine import Machine
from tb.studies.via._via import User, connect, join, user
from tests.unit.via.via_bench import pair, pattern, start


@pytest.mark.parametrize("source", [0, 1])
@pytest.mark.parametrize("number", [0, 1])
def test_a_connection_is_established_with_the_loss_of_any_single_packet(source: int, number: int) -> None:
    machine = Machine(2)
    vias = start(machine)
    here, there = machine.finish(user(vias[0]), user(vias[1]))
    machine.faults.drop(source, 1 - source, number)
    ((mine, yours),) = machine.finish(connect(here, there, 1))
    assert mine.state is yours.state is State.CONNECTED

    async def run() -> Any:
        here.write(0, pattern(50))
        await yours.post_receive(there.descriptor(0).receive([there.part(0, 50)]))
        await mine.post_send(here.descriptor(0).send([here.part(0, 50)]))
        return (await yours.poll_receive()).length

    assert machine.finish(run()) == [50]


def test_a_vi_can_be_connected_again_after_a_disconnect() -> None:
    p = pair(reliability=Reliability.DELIVERY)

    async def message(size: int) -> None:
        p.here.write(0, pattern(size))
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, size)]))
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, size)]))
        assert (await p.yours.poll_receive()).status == Status.DONE | Status.RECEIVE
        assert (await p.mine.poll_send()).status == Status.DONE
        assert p.there.read(0, size) == pattern(size)

    async def run() -> None:
        for turn in range(3):
            await message(100 + turn)
            await p.mine.disconnect()
            await p.machine.host(0).sleep(200_000_000)
            assert p.yours.state is State.ERROR
            await p.yours.disconnect()
            await join(p.here, p.mine, p.there, p.yours, 1)
        await message(5000)

    p.machine.finish(run())


def test_both_ends_can_disconnect_at_once() -> None:
    p = pair()
    p.machine.finish(p.mine.disconnect(), p.yours.disconnect())
    assert p.mine.state is p.yours.state is State.CLOSED
    p.machine.finish(join(p.here, p.mine, p.there, p.yours, 1))


def test_a_rejected_client_gets_the_code_reject() -> None:
    machine = Machine(2)
    vias = start(machine)
    here, there = machine.finish(user(vias[0]), user(vias[1]))

    async def server() -> None:
        await there.nic.connect_reject(await there.nic.connect_wait(3, 1000))

    async def client() -> Result:
        vi = await here.nic.create_vi(here.tag)
        with pytest.raises(VipError) as refused:
            await vi.connect_request(1, 3, 1000)
        return refused.value.result

    assert machine.finish(server(), client())[1] is Result.REJECT


@pytest.mark.parametrize(
    ("attributes", "result"),
    [
        ({"reliability": Reliability.RECEPTION}, Result.INVALID_RELIABILITY_LEVEL),
        ({"most": 4096}, Result.INVALID_MTU),
    ],
)
def test_vis_with_different_attributes_are_not_connected(attributes: dict[str, int], result: Result) -> None:
    machine = Machine(2)
    vias = start(machine)
    here, there = machine.finish(user(vias[0]), user(vias[1]))

    async def server() -> Result:
        vi = await there.nic.create_vi(there.tag)
        with pytest.raises(VipError) as refused:
            await there.nic.connect_accept(await there.nic.connect_wait(3, 1000), vi)
        return refused.value.result

    async def client() -> None:
        vi = await here.nic.create_vi(here.tag, **attributes)
        with pytest.raises(VipError):
            await vi.connect_request(1, 3, 500)

    assert machine.finish(server(), client())[0] is result


def test_many_clients_connect_to_one_server() -> None:
    machine = Machine(4)
    vias = start(machine)
    users = machine.finish(*(user(via) for via in vias))
    server, clients = users[0], users[1:]

    async def serve() -> list[int]:
        vis = [await server.nic.create_vi(server.tag) for _ in range(9)]
        for vi in vis:
            await server.nic.connect_accept(await server.nic.connect_wait(5, 5000), vi)
        return [vi.context.peer for vi in vis]

    async def ask(client: User) -> None:
        for _ in range(3):
            await (await client.nic.create_vi(client.tag)).connect_request(0, 5, 20_000)

    peers = machine.finish(serve(), *(ask(client) for client in clients))[0]
    assert sorted(peers) == [1, 1, 1, 2, 2, 2, 3, 3, 3]


@pytest.mark.parametrize("ends", ["here", "there"])
def test_ending_one_of_two_crossed_connections_keeps_the_other(ends: str) -> None:
    """Connect two pairs: each host is client of one, with the same connection number and the same VI numbers."""
    machine = Machine(2)
    vias = start(machine)
    here, there = machine.finish(user(vias[0]), user(vias[1]))

    async def run() -> None:
        mine = [await here.nic.create_vi(here.tag) for _ in range(2)]
        yours = [await there.nic.create_vi(there.tag) for _ in range(2)]
        await join(here, mine[0], there, yours[1], 1)
        await join(there, yours[0], here, mine[1], 0)
        await (mine[0] if ends == "here" else yours[0]).disconnect()
        await machine.host(0).sleep(200_000_000)
        others = (mine[1], yours[0]) if ends == "here" else (mine[0], yours[1])
        assert [vi.state for vi in others] == [State.CONNECTED] * 2
        assert (yours[1] if ends == "here" else mine[1]).state is State.ERROR

    machine.finish(run())


def test_a_client_is_connected_while_another_process_has_its_cpu() -> None:
    """Block the CPU for a quantum, which exceeds the server's patience for the client's CONFIRM."""
    machine = Machine(2, cost=lambda side, path: 20_000_000 if path == "take_done" else 0)
    vias = start(machine, preset="bvia2", connect_us=50)
    here, there = machine.finish(user(vias[0]), user(vias[1]))
    busy = vias[0].host.process("busy")

    async def compute() -> None:
        for _ in range(QUANTUM_PS // 20_000_000):
            await busy.spend("take_done")

    async def serve() -> int:
        vi = await there.nic.create_vi(there.tag)
        request = await there.nic.connect_wait(5, 1000)
        busy.spawn(compute(), "another one")
        await there.nic.connect_accept(request, vi)
        return machine.kernel.now

    async def ask() -> int:
        vi = await here.nic.create_vi(here.tag)
        await vi.connect_request(1, 5, 1000)
        return machine.kernel.now

    accepted, connected = machine.finish(serve(), ask())
    assert accepted + 2_000_000_000 < connected
