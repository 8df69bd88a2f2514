"""Peer-to-peer connections: both sides send a request (VipConnectPeerRequest, ...Done, ...Wait).

Strategy: two processes request each other, one much earlier or both at once, while any one packet of the kernel agents
is lost. Both must be connected, and a message each way that is sent at once must arrive. Further cases: no request of
the peer, different attributes, a withdrawn request.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, Vi, VipError
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import User, user
from tests.unit.via.via_bench import pattern, start

NAME = 5


async def side(me: User, vi: Vi, node: int, late_us: int = 0, patience_us: float = 5000, pause_us: int = 0) -> Any:
    """Request the peer on a node, and after a pause exchange messages with it."""
    await me.nic.host.sleep(late_us * 1_000_000)
    await vi.post_receive(me.descriptor(1).receive([me.part(4096, 200)]))
    await vi.connect_peer_request(node, NAME, patience_us)
    found = await vi.connect_peer_wait()
    await me.nic.host.sleep(pause_us * 1_000_000)
    me.write(0, pattern(200, 1 - node))
    await vi.post_send(me.descriptor(0).send([me.part(0, 200)]))
    assert (await vi.poll_receive()).status == Status.DONE | Status.RECEIVE
    assert (await vi.poll_send()).status == Status.DONE
    assert me.read(4096, 200) == pattern(200, node)
    return found


def made(**attributes: Any) -> tuple[Machine, list[User], list[Vi]]:
    """Create two processes with a VI each."""
    machine = Machine(2)
    vias = start(machine)
    users = machine.finish(*(user(via) for via in vias))
    vis = machine.finish(*(one.nic.create_vi(one.tag, **attributes) for one in users))
    return machine, users, vis


@pytest.mark.parametrize("late", [(0, 0), (300, 0), (0, 1000)])
@pytest.mark.parametrize("lost", [None, (0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2)])
def test_peers_are_connected_with_the_loss_of_a_packet(late: tuple[int, int], lost: tuple[int, int] | None) -> None:
    machine, users, vis = made(reliability=Reliability.DELIVERY)
    pause_us = 0
    if lost is not None:
        machine.faults.drop(lost[0], 1 - lost[0], lost[1])
        pause_us = 500 if lost[1] > 1 else 0  # only the kernels' packets are repeated
    found = machine.finish(*(side(users[i], vis[i], 1 - i, late[i], pause_us=pause_us) for i in (0, 1)))
    assert [one.reliability for one in found] == [Reliability.DELIVERY] * 2
    assert [vi.state for vi in vis] == [State.CONNECTED] * 2


def test_either_peer_can_disconnect_and_connect_again() -> None:
    machine, users, vis = made()
    for ends in (0, 1, 0):
        machine.finish(*(side(users[i], vis[i], 1 - i) for i in (0, 1)))
        machine.finish(vis[ends].disconnect())
        machine.run(until_us=machine.kernel.now / 1e6 + 300)
        assert vis[1 - ends].state is State.ERROR
        machine.finish(vis[1 - ends].disconnect())


def test_a_peer_request_without_a_peer_times_out() -> None:
    machine, users, vis = made()

    async def run() -> None:
        await vis[0].connect_peer_request(1, NAME, 700)
        assert await vis[0].connect_peer_done() is None
        with pytest.raises(VipError) as refused:
            await vis[0].destroy()
        assert refused.value.result is Result.INVALID_STATE
        with pytest.raises(VipError) as refused:
            await vis[0].connect_peer_wait()
        assert refused.value.result is Result.TIMEOUT

    machine.finish(run())
    assert machine.kernel.now / 1e6 > 600
    machine.finish(*(side(users[i], vis[i], 1 - i) for i in (0, 1)))


@pytest.mark.parametrize("late_us", [(0, 0), (10, 0), (0, 10), (20, 0), (0, 20)])
def test_peers_with_different_attributes_get_an_error_on_both_sides(late_us: tuple[int, int]) -> None:
    """Let the other side's request arrive in every phase."""
    machine, users, _ = made()
    vis = machine.finish(
        users[0].nic.create_vi(users[0].tag, most=1000), users[1].nic.create_vi(users[1].tag, most=2000)
    )

    async def refused(i: int) -> Result:
        await users[i].nic.host.sleep(late_us[i] * 1_000_000)
        await vis[i].connect_peer_request(1 - i, NAME, 5000)
        with pytest.raises(VipError) as error:
            await vis[i].connect_peer_wait()
        return error.value.result

    assert machine.finish(refused(0), refused(1)) == [Result.INVALID_MTU] * 2
    assert [vi.state for vi in vis] == [State.CLOSED] * 2


def test_a_peer_request_can_be_withdrawn_and_a_second_one_is_rejected() -> None:
    machine, users, vis = made()

    async def run() -> None:
        other = await users[0].nic.create_vi(users[0].tag)
        await vis[0].connect_peer_request(1, NAME, 5000)
        for call in (other.connect_peer_request(1, NAME, 100), vis[0].connect_peer_request(1, 9, 100)):
            with pytest.raises(VipError) as refused:
                await call
            assert refused.value.result is Result.INVALID_STATE
        await vis[0].disconnect()
        with pytest.raises(VipError) as refused:
            await vis[0].connect_peer_wait()
        assert refused.value.result is Result.REJECT
        with pytest.raises(VipError) as refused:
            await other.connect_peer_request(0, NAME, 100)
        assert refused.value.result is Result.NOT_REACHABLE
        with pytest.raises(VipError):
            await other.connect_peer_done()

    machine.finish(run())
    machine.finish(*(side(users[i], vis[i], 1 - i) for i in (0, 1)))
