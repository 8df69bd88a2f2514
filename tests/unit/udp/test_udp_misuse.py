"""Invalid calls of UDP: each raises an error with number, cause and remedy.

Strategy: a table of calls and their errors. None sends anything, and after each the sockets still work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.layer import NodesError
from firmware.layers import check_options
from firmware.options import OptionError
from firmware.udp.formats import FormatError, Ip
from firmware.udp.host import UdpError
from pymodels.hardware.discover import nic_kind
from pymodels.host import PAGE, Rights
from tests.unit.udp.udp_bench import PORT, ROOM, Bench

Call = Callable[[Bench], Awaitable[Any]]


async def _closed(bench: Bench, call: Callable[[Any], Awaitable[Any]]) -> None:
    socket = await bench.open(0, 7)
    await socket.close()
    await call(socket)


async def _closed_asleep(bench: Bench) -> None:
    socket = await bench.open(0, 7)

    async def close() -> None:
        await bench.machine.host(0).sleep(100_000_000)
        await socket.close()

    bench.processes[0].spawn(close(), "another thread")
    await socket.recv(bench.memory[0], 1)


async def _again(bench: Bench) -> None:
    await bench.sockets[0].bind(9)


async def _unbound(bench: Bench) -> Any:
    return await bench.udps[0].socket(bench.processes[0])


async def _bind(bench: Bench, port: Any) -> None:
    await (await _unbound(bench)).bind(port)


async def _protected(bench: Bench) -> None:
    page = bench.processes[0].allocate(PAGE)
    await bench.processes[0].protect(page, PAGE, Rights.READ)
    await bench.sockets[0].sendto(page, 1, 1, 9)  # it may be read
    await bench.sockets[0].recvfrom(page, 1)


MISUSE: dict[str, tuple[Call, str]] = {
    "an unknown node": (lambda b: b.sockets[0].sendto(b.memory[0], 1, 2, 9), r"node 2 \(ENETUNREACH\); send to one"),
    "the node itself": (lambda b: b.sockets[0].sendto(b.memory[0], 1, 0, 9), r"node 0 \(ENETUNREACH\)"),
    "an invalid node": (lambda b: b.sockets[0].connect("b", 9), r"node 'b' \(ENETUNREACH\)"),  # type: ignore[arg-type]
    "port 0": (lambda b: b.sockets[0].sendto(b.memory[0], 1, 1, 0), r"port 0 \(EADDRNOTAVAIL\); give 1 to 65535"),
    "a port above 65535": (lambda b: b.sockets[0].connect(1, 65536), r"invalid port 65536 \(EADDRNOTAVAIL\)"),
    "a fractional port": (lambda b: _bind(b, 1.5), r"invalid port 1.5 \(EADDRNOTAVAIL\)"),
    "a port in use": (lambda b: _bind(b, PORT), r"port 2049 of this host is in use \(EADDRINUSE\); use another port"),
    "a second port": (_again, r"bind of a socket, port 2049: the socket has port 2049 \(EINVAL\)"),
    "too much": (lambda b: b.sockets[0].sendto(b.memory[0], 65508, 1, 9), r"65508 bytes \(EMSGSIZE\); give 0 to 65507"),
    "less than nothing": (lambda b: b.sockets[0].sendto(b.memory[0], -1, 1, 9), r"-1 bytes \(EMSGSIZE\)"),
    "unmapped memory": (lambda b: b.sockets[0].sendto(16, 1, 1, 9), r"at 0x10: nothing is mapped there \(EFAULT\)"),
    "memory beyond its end": (lambda b: b.sockets[0].sendto(b.memory[0] + ROOM - 1, 2, 1, 9), "EFAULT"),
    "memory that may not be written": (_protected, r"the page is read-only \(EFAULT\)"),
    "room of less than nothing": (lambda b: b.sockets[0].recvfrom(b.memory[0], -1), r"-1 bytes of memory \(EINVAL\)"),
    "no destination": (lambda b: b.sockets[0].send(b.memory[0], 1), r"not connected \(EDESTADDRREQ\)"),
    "send when closed": (lambda b: _closed(b, lambda s: s.sendto(b.memory[0], 1, 1, 9)), "sendto of .*EBADF"),
    "receive when closed": (lambda b: _closed(b, lambda s: s.recv(b.memory[0], 1)), r"recvfrom of .* closed \(EBADF\)"),
    "closed while asleep": (_closed_asleep, r"the socket is closed \(EBADF\)"),
    "close when closed": (lambda b: _closed(b, lambda s: s.close()), r"close of .* closed \(EBADF\)"),
    "bind when closed": (lambda b: _closed(b, lambda s: s.bind(8)), r"bind of .* closed \(EBADF\)"),
    "signals when closed": (lambda b: _closed(b, lambda s: s.set_async(True)), r"set_async of .* closed \(EBADF\)"),
    "select when closed": (lambda b: _closed(b, lambda s: b.udps[0].select(b.processes[0], [s])), "select of .*EBADF"),
    "room for nothing": (lambda b: b.sockets[0].set_room(0), r"room for 0 bytes \(EINVAL\); give 1 to 1048576"),
    "select of nothing": (lambda b: b.udps[0].select(b.processes[0], []), r"0 sockets, None ns \(EINVAL\)"),
    "select into the past": (lambda b: b.udps[0].select(b.processes[0], b.sockets[:1], -1), r"-1 ns \(EINVAL\)"),
    "another's socket": (lambda b: b.udps[0].select(b.processes[0], b.sockets[1:]), r"belongs to host1: .* \(EBADF\)"),
    "another host's process": (lambda b: b.udps[0].socket(b.processes[1]), r"not a process of host host0 \(EACCES\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSE)
def test_each_misuse_raises_its_error_number_and_does_not_affect_other_calls(name: str) -> None:
    bench = Bench()
    call, said = MISUSE[name]
    with pytest.raises(UdpError, match=said) as refused:
        bench.run(call(bench))
    assert f"({refused.value.code})" in str(refused.value)
    results = bench.run(bench.give(0, 1, [b"there"]), bench.get(1, 1), bench.give(1, 0, [b"back"]), bench.get(0, 1))
    assert results[1::2] == [[(0, b"there")], [(1, b"back")]]


def test_closing_a_socket_frees_its_port_and_drops_its_datagrams() -> None:
    bench = Bench()
    bench.run(bench.give(0, 1, [b"old"]))
    bench.settle()
    bench.run(bench.sockets[1].close())
    bench.sockets[1:] = bench.run(bench.open(1))
    assert bench.run(bench.give(0, 1, [b"new"]), bench.get(1, 1))[1] == [(0, b"new")]


def test_options_are_checked() -> None:
    card = nic_kind("lanai9").card(1 << 20)
    for options, said in (
        ({"mru": 1500}, "'mru': udp has no such option; did you mean 'mtu'"),
        ({"mtu": 575}, "udp.mtu is 575; give 576 to 9000"),
        ({"receive_bytes": "all"}, "udp.receive_bytes is 'all'; give a whole number"),
    ):
        with pytest.raises(OptionError, match=said):
            check_options("udp", options, 2, 1 << 20, card)
    with pytest.raises(NodesError, match="129 hosts: layer 'udp' can address 128"):
        check_options("udp", {}, 129, 1 << 20, card)
    sp = nic_kind("sp").card(1 << 20)
    with pytest.raises(OptionError, match="a packet of this NIC holds 2032 bytes, .*; set udp.mtu to at most 2032"):
        check_options("udp", {}, 2, 1 << 20, sp)
    check_options("udp", {"mtu": 2032}, 2, 1 << 20, sp)


def test_invalid_frames_are_rejected() -> None:
    with pytest.raises(FormatError, match="its IP header is damaged, or has options"):
        Ip.unpack(bytes(40))
    with pytest.raises(FormatError, match="its IP header says 40 bytes, but 30 arrived"):
        Ip.unpack(Ip(1, 2, 3, 40).pack() + bytes(10))
