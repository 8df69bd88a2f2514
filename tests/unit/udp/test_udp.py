"""UDP: datagrams of every size, losses and damage, sleeping, signals and select.

Strategy: two to four hosts of the machine, with each LANai. Datagrams arrive complete and unchanged, or not at all.
Bits are flipped in frames between kernel and NIC, where the CRC of the link does not detect them; the header checks or
the checksum must. Frames are reordered, lost and duplicated. Counters must account for every missing datagram.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

import pytest

from firmware.udp.host import Socket, UdpError
from firmware.udp.host.driver import SPARE
from firmware.udp.nic.layout import SLOTS
from pymodels.host import Sig
from pymodels.machine import MachineError
from pymodels.trace import TraceEvent
from tests.unit.udp.udp_bench import PORT, ROOM, Bench, patterned

SIZES = (0, 1, 2, 3, 8, 1000, 8972, 8973, 20001, 32768, 65507)
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])


@each_nic
def test_datagrams_of_every_size_arrive_unchanged(nic: str) -> None:
    bench = Bench(nic=nic, receive_bytes=1 << 20)
    sent = [patterned(size, seed) for seed, size in enumerate(SIZES)]
    _, came = bench.run(bench.give(0, 1, sent), bench.get(1, len(sent)))
    assert came == [(0, data) for data in sent]


@pytest.mark.parametrize("mtu", [576, 577, 583, 9000])
def test_datagrams_arrive_with_any_mtu(mtu: int) -> None:
    bench = Bench(mtu=mtu)
    sent = [patterned(size, size) for size in (mtu - 29, mtu - 28, mtu - 27, 5000)]
    _, came = bench.run(bench.give(0, 1, sent), bench.get(1, len(sent)))
    assert [data for _, data in came] == sent


@pytest.mark.parametrize("late", range(4))
def test_a_datagram_of_32_kb_is_four_frames_and_survives_reordering(late: int) -> None:
    bench = Bench()
    bench.machine.faults.reorder(0, 1, late, 900_000_000)
    sent = patterned(32768)
    _, came = bench.run(bench.give(0, 1, [sent]), bench.get(1, 1))
    assert came == [(0, sent)] and bench.machine.faults.passed(0, 1) == 4 and bench.machine.faults.injected == 1


def test_duplicate_frames_yield_one_datagram() -> None:
    bench = Bench()
    bench.machine.faults.double(0, 1, 1)
    sent = [patterned(20000), b"next"]
    _, came = bench.run(bench.give(0, 1, sent), bench.get(1, 2))
    assert [data for _, data in came] == sent


def test_a_lost_frame_loses_only_its_datagram_whose_frames_are_dropped_at_the_limit() -> None:
    bench = Bench(partial_bytes=65536)
    lost = 6
    for number in range(lost):
        bench.machine.faults.drop(0, 1, 4 * number + 2)
    sent = [patterned(32768, seed) for seed in range(lost)]
    free = len(bench.udps[1].kernel.driver._free)
    _, came = bench.run(bench.give(0, 1, [*sent, b"next"]), bench.get(1, 1))
    kernel = bench.udps[1].kernel
    assert came == [(0, b"next")] and kernel.given_up == lost - 65536 // (3 * 8996)
    assert kernel._partial.bytes <= 65536
    assert len(kernel.driver._free) == free - 3 * (lost - kernel.given_up)


def test_incomplete_datagrams_are_dropped_after_thirty_seconds() -> None:
    bench = Bench()
    bench.machine.faults.drop(0, 1, 0)
    bench.run(bench.give(0, 1, [patterned(20000)]))
    bench.settle(31e6)
    bench.run(bench.give(0, 1, [patterned(20000)]), bench.get(1, 1))
    assert bench.udps[1].kernel.given_up == 1


def test_a_frame_damaged_on_the_wire_is_dropped_and_counted_by_the_nic() -> None:
    bench = Bench()
    bench.machine.faults.corrupt(0, 1, 1, 30)
    _, came = bench.run(bench.give(0, 1, [b"one", b"two", b"three"]), bench.get(1, 2))
    assert [data for _, data in came] == [b"one", b"three"]
    assert bench.run(bench.udps[1].damaged(), bench.udps[1].dropped()) == [1, 0]


def flipping(bench: Bench, offset: int) -> Any:
    """Return a patch of the bus bridge that flips a bit of every frame between kernel memory and NIC."""
    driver, host = bench.udps[0].kernel.driver, bench.machine.host(0)
    order = driver.order

    async def flipped(frame: int, size: int, node: int, send: int) -> None:
        host.store_bytes(frame + offset, bytes([host.load_bytes(frame + offset, 1)[0] ^ 0x10]))
        await order(frame, size, node, send)

    return patch.object(driver, "order", flipped)


REFUSED = {
    "version": (0, "header"),
    "size of the frame": (3, "header"),
    "number": (5, "header"),
    "place": (7, "header"),
    "protocol": (9, "header"),
    "checksum of the header": (10, "header"),
    "address of the sender": (15, "header"),
    "address of the receiver": (19, "header"),
    "port of the sender": (21, "sum"),
    "port of the receiver": (23, "port"),
    "size of the datagram": (25, "header"),
    "checksum": (26, "sum"),
    "data": (28, "sum"),
    "last byte": (28 + 998, "sum"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_bit_flipped_in_a_frame_is_detected_by_the_check_that_covers_it(what: str) -> None:
    bench, (offset, why) = Bench(), REFUSED[what]
    with flipping(bench, offset):
        bench.run(bench.give(0, 1, [patterned(999)]))
    _, came = bench.run(bench.give(0, 1, [b"next"]), bench.get(1, 1))
    assert came == [(0, b"next")]
    assert bench.udps[1].kernel.lost == {"header": 0, "port": 0, "room": 0, "sum": 0, why: 1}


def test_the_checksum_covers_the_kernels_buffer_at_the_time_of_receipt() -> None:
    bench = Bench()
    bench.run(bench.give(0, 1, [b"sent", b"next"]))
    bench.settle()
    frame = bench.udps[1].kernel.ports[PORT].came[0].frames[0].address
    bench.machine.host(1).store_bytes(frame + 28, b"r")
    assert bench.run(bench.get(1, 1)) == [[(0, b"next")]] and bench.udps[1].kernel.lost["sum"] == 1


def test_random_datagrams_over_faulty_links_arrive_unchanged_or_not_at_all() -> None:
    bench, rng = Bench(4, seed=3, receive_bytes=1 << 20), random.Random(3)
    bench.machine.faults.lose(0.05, 0.05, 5, reordered=0.1)
    sent: dict[int, list[bytes]] = {
        node: [bytes([node, n]) + rng.randbytes(rng.choice((0, 7, 500, 9000, 30000))) for n in range(25)]
        for node in range(4)
    }
    came: Counter[tuple[int, bytes]] = Counter()

    async def take(node: int) -> None:
        while True:
            came[await bench.one(node)] += 1

    for node in range(4):
        bench.processes[node].spawn(take(node), "taker")
    bench.run(*(bench.give(node, (node + 1) % 4, sent[node]) for node in sent))
    bench.settle(10_000)
    assert came.keys() <= {(node, data) for node, all_of in sent.items() for data in all_of}
    assert max(came.values()) == 1 and 50 < len(came) < 100 and bench.machine.faults.injected > 20


# ---- bounds


def test_a_full_socket_drops_datagrams_until_it_is_read() -> None:
    bench = Bench(receive_bytes=30_000)
    bench.run(bench.give(0, 1, [patterned(8000, seed) for seed in range(6)]))
    bench.settle()
    assert bench.udps[1].kernel.lost["room"] == 3
    _, came = bench.run(bench.give(0, 1, [b"next"]), bench.get(1, 4))
    assert [data for _, data in came] == [*(patterned(8000, seed) for seed in range(3)), b"next"]


def test_the_room_of_a_socket_can_be_changed_while_it_holds_datagrams() -> None:
    bench = Bench(receive_bytes=20_000)
    bench.run(bench.give(0, 1, [patterned(8000)] * 2))
    bench.settle()
    bench.run(bench.sockets[1].set_room(40_000))
    bench.run(bench.give(0, 1, [patterned(8000)] * 4))
    bench.settle()
    assert bench.udps[1].kernel.lost["room"] == 2
    assert len(bench.run(bench.get(1, 4))[0]) == 4
    assert bench.udps[1].kernel.ports[PORT].room == 40_000


def test_frames_are_dropped_when_the_nic_has_no_buffers_from_the_driver() -> None:
    bench = Bench()
    bench.machine.host(1).pause()
    bench.run(bench.give(0, 1, [b"%d" % n for n in range(SLOTS + 9)]))
    bench.settle()
    bench.machine.host(1).resume()
    came = bench.run(bench.get(1, SLOTS))[0]
    assert [data for _, data in came] == [b"%d" % n for n in range(SLOTS)]
    assert bench.run(bench.udps[1].dropped()) == [9]


def test_frames_beyond_the_spare_buffers_are_dropped_and_the_nic_keeps_its_own() -> None:
    bench, more = Bench(receive_bytes=1 << 20), 20

    async def slowly() -> None:
        for number in range(SPARE + more):
            await bench.give(0, 1, [b"%d" % number])
            await bench.machine.host(0).sleep(5_000_000)

    bench.run(slowly())
    bench.settle()
    assert bench.udps[1].kernel.driver.short == more
    assert len(bench.run(bench.get(1, SPARE))[0]) == SPARE
    _, came = bench.run(bench.give(0, 1, [b"next"] * 2 * SLOTS), bench.get(1, 2 * SLOTS))
    assert len(came) == 2 * SLOTS


def test_datagram_bytes_beyond_the_receive_memory_are_lost() -> None:
    bench = Bench()
    bench.run(bench.give(0, 1, [patterned(20000)]))
    bench.processes[1].store_bytes(bench.memory[1], b"\xa5" * ROOM)
    (got,) = bench.run(bench.sockets[1].recvfrom(bench.memory[1] + 100, 9000))
    assert got[:4] == (0, PORT, 9000, 20000)
    expected = b"\xa5" * 100 + patterned(20000)[:9000] + b"\xa5" * 100
    assert bench.processes[1].load_bytes(bench.memory[1], 9200) == expected


# ---- time


def spent(bench: Bench, path: str) -> list[int]:
    """Return the duration of each charge of a path, ps."""
    trace = bench.machine.trace
    return [row[5] for row in trace.of_event(TraceEvent.SPEND_START) if row[4] == trace.path(f"host:{path}")]


def test_every_byte_is_copied_once_on_each_side() -> None:
    bench = Bench()
    before = len(spent(bench, "udp_copy_sum"))
    bench.run(bench.give(0, 1, [patterned(4096)]), bench.get(1, 1))
    took = spent(bench, "udp_copy_sum")[before:]
    whole = 4096 // 32 * max(100_000, 32 * bench.machine.timing.copy_byte)
    assert sum(took) == 2 * whole


def test_a_waiting_process_yields_the_cpu_and_resumes_by_a_context_switch() -> None:
    bench = Bench()
    host = bench.machine.host(1)

    async def late() -> None:
        for _ in range(3):
            await bench.machine.host(0).sleep(10**9)
            await bench.give(0, 1, [b"x"])

    used, switches = host.cpu_ps, host.scheduler.switches
    bench.run(late(), bench.get(1, 3))
    first = 1  # from the thread that made the socket
    assert host.cpu_ps - used < 30_000_000 and host.scheduler.switches == switches + first + 3


def test_sigio_delays_a_computing_process_by_the_cost_of_its_handler() -> None:
    bench = Bench()
    process, socket, ends = bench.processes[1], bench.sockets[1], []
    came: list[bytes] = []

    async def handler(sig: Sig) -> None:
        while await bench.udps[1].select(process, [socket], 0):
            got = await socket.recvfrom(bench.memory[1], ROOM, wait=False)
            came.append(process.load_bytes(bench.memory[1], got.size))

    async def compute() -> None:
        process.on_signal(Sig.IO, handler)
        await socket.set_async(True)
        begun, used = bench.machine.kernel.now, bench.machine.host(1).cpu_ps
        await process.compute(1_000_000)
        ends.append((bench.machine.kernel.now - begun, bench.machine.host(1).cpu_ps - used))

    async def give() -> None:
        for data in (b"one", b"two"):
            await bench.machine.host(0).sleep(200_000_000)
            await bench.give(0, 1, [data])

    bench.run(compute(), give())
    assert came == [b"one", b"two"]
    assert ends[0][0] == ends[0][1] > 10**9, "the CPU was never idle"


def test_a_wait_interrupted_by_a_signal_handler_continues() -> None:
    bench = Bench(3)
    process = bench.processes[1]
    handled: list[int] = []

    async def handler(sig: Sig) -> None:
        got = await requests.recvfrom(bench.memory[1], ROOM // 4)
        handled.append(got.node)

    requests = bench.run(bench.open(1, 7))[0]

    async def wait() -> bytes:
        process.on_signal(Sig.IO, handler)
        await requests.set_async(True)
        return (await bench.one(1))[1]

    async def ask() -> None:
        await bench.machine.host(2).sleep(300_000_000)
        await bench.sockets[2].sendto(bench.memory[2], 5, 1, 7)
        await bench.machine.host(2).sleep(300_000_000)
        await bench.give(0, 1, [b"response"])

    assert bench.run(wait(), ask())[0] == b"response" and handled == [2]


@pytest.mark.parametrize("call", ["recvfrom", "select", "select until a time"])
def test_a_datagram_that_arrives_during_a_handler_before_sleeping_wakes_the_receiver(call: str) -> None:
    bench = Bench()
    process, socket, kernel = bench.processes[1], bench.sockets[1], bench.udps[1].kernel
    host = bench.machine.host(1)

    async def handler(sig: Sig) -> None:
        if call != "select until a time":
            bench.processes[0].spawn(bench.give(0, 1, [b"x"]), "sender")
        await process.compute(1_000_000)

    async def wait() -> None:
        process.on_signal(Sig.IO, handler)
        if call == "recvfrom":
            await bench.one(1)
        else:
            await bench.udps[1].select(process, [socket], 500_000 if call == "select until a time" else None)

    async def spend(path: str, times: int = 1) -> None:
        if path in ("udp_receive", "udp_select") and not process.signals.delivered:
            host.signal(process.number, Sig.IO)  # arrives while the call polls
        await original(path, times)

    original = host.spend
    with patch.object(host, "spend", spend):
        bench.run(wait(), within_us=5000)
    assert process.signals.delivered == 1 and kernel.lost["room"] == 0


def test_select_returns_the_sockets_with_datagrams_or_times_out() -> None:
    bench = Bench()
    second, third = bench.run(bench.open(1, 7), bench.open(1, 8))
    udp, process, now = bench.udps[1], bench.processes[1], bench.machine.kernel.now
    all_of = [bench.sockets[1], second, third]
    assert bench.run(udp.select(process, all_of, 500_000)) == [[]]
    assert 0 <= bench.machine.kernel.now - now - 500_000_000 < 20_000_000
    assert bench.run(udp.select(process, all_of, 0)) == [[]]

    async def give() -> None:
        await bench.sockets[0].sendto(bench.memory[0], 1, 1, 8)

    assert bench.run(udp.select(process, all_of), give())[0] == [third]
    bench.run(bench.give(0, 1, [b"x"]))
    bench.settle()
    assert bench.run(udp.select(process, all_of)) == [[bench.sockets[1], third]]


def test_a_datagram_with_a_wrong_checksum_is_ready_for_select_and_dropped_on_receipt() -> None:
    bench = Bench()
    with flipping(bench, 28):
        bench.run(bench.give(0, 1, [b"x"]))
    bench.settle()
    assert bench.run(bench.udps[1].select(bench.processes[1], [bench.sockets[1]], 0)) == [[bench.sockets[1]]]
    with pytest.raises(UdpError, match="no datagram has arrived \\(EAGAIN\\)"):
        bench.run(bench.sockets[1].recvfrom(bench.memory[1], 10, wait=False))


def test_a_connected_socket_accepts_datagrams_of_its_peer_only() -> None:
    bench = Bench(3)
    bench.run(bench.sockets[1].connect(2, PORT))
    bench.run(bench.give(0, 1, [b"not me"]), bench.give(2, 1, [b"peer"]))
    bench.settle()
    assert bench.run(bench.get(1, 1)) == [[(2, b"peer")]] and bench.udps[1].kernel.lost["port"] == 1
    assert len(bench.udps[1].kernel.driver._free) == SPARE, "a frame that is dropped gives its buffer back"


def test_a_socket_without_a_port_gets_one_when_it_sends() -> None:
    bench = Bench()

    async def send() -> Socket:
        socket = await bench.udps[0].socket(bench.processes[0])
        assert not socket.port
        await socket.sendto(bench.memory[0], 3, 1, PORT)
        return socket

    socket, got = bench.run(send(), bench.sockets[1].recvfrom(bench.memory[1], 9))
    assert got.port == socket.port == 1024


def test_the_hang_report_names_a_waiting_receiver_and_its_peer() -> None:
    bench = Bench()
    bench.run(bench.sockets[1].connect(0, PORT))
    with pytest.raises(MachineError, match="process app waits for a datagram at port 2049, held by host host0"):
        bench.run(bench.get(1, 1), within_us=5000)
