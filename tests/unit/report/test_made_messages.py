"""Messages that no host sends: replies to remote reads, copies of multicasts; and messages of VIA's descriptors.

Strategy: in made-up traces (tests/unit/report/madeup_trace.py) a NIC makes a message for another message, under the key
of that message. A descriptor gets its key when the NIC reads it. Each message must be found with its own packets and
with its cause; stages must add up. A DMA that is scattered over pages is one block.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from firmware.via.formats import Control
from pymodels.trace import ACCEPT_IN_NIC, Part, TraceEvent
from tb.report import timeline as made
from tb.report.life import Life
from tb.report.lives import Lives
from tb.report.recorded import Legend, Recorded
from tb.report.stages import stages_of
from tb.report.wire import rows
from tests.unit.report.madeup_trace import KEY, LEGEND_OF_TWO, Row, made_for, message, of_message, packet, record, trace

E = TraceEvent
ANSWER = 0x01000009
"""Key of an answer of VIA from node 1."""


LEGEND_OF_VIA = replace(LEGEND_OF_TWO, layers=("via",))


def lives(*parts: list[Row], legend: Legend = LEGEND_OF_TWO) -> Lives:
    return Lives(legend).take_all(rows(trace(*parts)))


def sums(life: Life) -> dict[str, int]:
    """Nanoseconds of a life's stages, which must add up."""
    stages = stages_of(life)
    assert sum(stage.duration for stage in stages) == life.latency
    return {stage.name: stage.duration // 1000 for stage in stages}


def arrives(size: int) -> list[Row]:
    """Make a message of node 0 from the call to the receiver's first poll, 1800 ns later."""
    return [row for row in message(0, 0, size=size) if row[0] <= 1_800_000 and row[2] != E.NIC_ACCEPT]


def read_and_reply(at: int = 0) -> list[Row]:
    """Node 0 reads from node 1. The reply has the read's own key; it is begun at 2000 ns and stored at 5000 ns."""
    nic, dma = Part.NIC_CPU, Part.HOST_DMA
    made = [
        *arrives(0),
        record(2000, 1, nic, E.NIC_ACCEPT, KEY, 0, ACCEPT_IN_NIC, message=1),
        record(2000, 1, nic, E.NIC_REPLY, KEY, KEY, made_for(1, 0), message=2),
        record(2100, 1, nic, E.NIC_DMA_START, KEY, 100, message=2),
        record(2200, 1, dma, E.DMA_START, 0, 0, 60),
        record(2300, 1, dma, E.DMA_DONE, 0, 0, 60),
        record(2310, 1, dma, E.DMA_START, 0, 0, 40),
        record(2400, 1, dma, E.DMA_DONE, 0, 0, 40),
        record(2900, 1, nic, E.NIC_SEND_START, KEY, 136),
        *packet(3000, 1, 136),
        record(3500, 0, nic, E.NIC_RECV_START, KEY, 1),
        record(3600, 0, nic, E.NIC_ACCEPT, KEY, 1, ACCEPT_IN_NIC),
        record(3700, 0, nic, E.NIC_DMA_START, KEY, 100, 4),
        record(3710, 0, nic, E.ACK_SENT, KEY, 1),
        *packet(3720, 0, 8),
        record(3800, 0, dma, E.DMA_START, 0, 0, -100),
        record(4000, 0, dma, E.DMA_DONE, 0, 0, -100),
        record(4100, 0, dma, E.DMA_START, 0, 0, -4),
        record(4200, 0, dma, E.DMA_DONE, 0, 0, -4),
        record(5000, 0, nic, E.NIC_DMA_DONE, KEY, 100),
        record(5010, 0, nic, E.ACK_SEEN, KEY, 1, message=1),
        record(5500, 1, nic, E.NIC_RECV_START, KEY, 0),
        record(5500, 1, nic, E.ACK_SEEN, KEY, 0),
    ]
    return [(time + 1000 * at, *rest) for time, *rest in of_message(2, made)]


def test_a_reply_has_a_life_of_its_own_that_knows_its_read() -> None:
    read, reply = lives(read_and_reply()).lives
    assert read.name(LEGEND_OF_TWO) == "message 1, remote read, paris to metz, 100 B"
    assert reply.name(LEGEND_OF_TWO) == "message 2, reply to message 1, metz to paris, 100 B"
    assert (read.latency, reply.sent, reply.latency) == (2_000_000, 2_000_000, 3_000_000)
    assert reply.first is read
    assert read.made == [reply]
    assert sums(read)["nic_begins_reply"] == 200
    told = sums(reply)
    assert (told["fetch"], told["nic_send"], told["nic_sees_end"]) == (400, 500, 800)
    assert (told["dma_message"], told["dma_back_pointer"]) == (300, 200)
    assert [kind for kind, _ in reply.pieces[0].answers] == ["ACK"]
    assert not read.pieces[0].answers, "a read is acknowledged by its reply"


def test_the_pieces_of_a_long_read_have_one_reply() -> None:
    second = [row for row in read_and_reply(6000) if row[2] not in (E.SEND_CALL, E.SEND_RETURN)]
    read, reply = lives(read_and_reply(), second).lives
    assert [len(life.pieces) for life in (read, reply)] == [2, 2]
    assert (read.size, reply.size) == (200, 200)
    assert sum(sums(reply).values()) == 11_000 - 2_000


def test_a_copy_has_a_life_of_its_own_and_so_has_a_copy_of_it() -> None:
    copied = [
        *arrives(64),
        record(1900, 1, Part.NIC_CPU, E.NIC_COPY, KEY, KEY, made_for(1, 0), message=2),
        record(2000, 1, Part.NIC_CPU, E.NIC_SEND_START, KEY, 96, message=2),
        *of_message(2, packet(2010, 1, 96)),
        record(2700, 0, Part.NIC_CPU, E.NIC_RECV_START, KEY, 1, message=2),
        record(2800, 0, Part.NIC_CPU, E.NIC_COPY, KEY + 1, KEY, made_for(2, 1), message=3),
    ]
    first, copy, second = lives(copied).lives
    assert first.name(LEGEND_OF_TWO) == "message 1, multicast, paris to metz, 64 B"
    assert copy.name(LEGEND_OF_TWO) == "message 2, copy of message 1, metz to paris, 64 B"
    assert second.name(LEGEND_OF_TWO) == "message 3, copy of message 2, paris, 64 B"
    assert (copy.sent, copy.latency, second.first) == (1_900_000, 900_000, first)
    assert sums(first)["nic_copies"] == 100
    assert sums(copy)["nic_send"] == 100


def test_a_multicast_whose_root_is_here_ends_where_it_is_copied_and_delivered() -> None:
    own = [row for row in message(0, 0) if row[0] <= 500_000]
    taken = [
        record(700, 0, Part.NIC_CPU, E.NIC_RECV_START, KEY, 0, message=1),
        record(700, 0, Part.NIC_CPU, E.NIC_ACCEPT, KEY, 0, message=1),
        record(900, 0, Part.NIC_CPU, E.NIC_COPY, KEY + 1, KEY, made_for(1, 1), message=2),
        record(1000, 0, Part.HOST_CPU, E.POLL_HIT, KEY, 0, 0, message=1),
        record(1100, 0, Part.HOST_CPU, E.HANDLER_START, KEY, 16, 0, message=1),
    ]
    whole, copy = lives(own, taken).lives
    assert (whole.name(LEGEND_OF_TWO), whole.latency) == ("message 1, multicast, paris to paris, 64 B", 1_100_000)
    assert sums(whole)["nic_notices"] == 200
    assert copy.cause is whole
    assert lives(own, taken[:3]).lives[0].latency == 900_000


def posted(asks: Control = Control.SEND_RECEIVE, vi: int = 3, key: int = 5) -> list[Row]:
    """Make a descriptor of node 0 whose message has two packets and is answered by node 1; taken at 4000 ns."""
    cpu, nic = Part.HOST_CPU, Part.NIC_CPU
    rows = [
        record(0, 0, cpu, E.SEND_CALL, 0, 64),
        record(0, 0, cpu, E.POSTED, 0, 0x1000),
        record(100, 0, cpu, E.SEND_RETURN, 0, 64),
        record(200, 0, nic, E.NIC_NOTICED, key, 0),
        record(400, 0, nic, E.NIC_DESCRIPTOR, key, 0x1000, vi | asks << 8),
        record(500, 0, nic, E.NIC_DMA_START, key, 64, message=1),
        record(700, 0, nic, E.NIC_DMA_DONE, key, message=1),
        *packet(790, 0, 32, key),
        record(800, 0, nic, E.NIC_SEND_START, key, 32),
        *packet(1200, 0, 32, key),
        record(1210, 0, nic, E.NIC_SEND_START, key, 32),
        record(1500, 1, nic, E.NIC_RECV_START, key, 0),
        record(2000, 1, nic, E.NIC_RECV_START, key, 0),
        *([record(2100, 1, nic, E.NIC_ACCEPT, key, 0, 7)] if asks & Control.OPERATION == 0 else []),
        record(2200, 1, nic, E.NIC_RECV_DONE, key, 64),
        record(2300, 1, nic, E.ACK_SENT, ANSWER, 0, vi),
        *packet(2310, 1, 8, ANSWER),
        record(2900, 0, nic, E.NIC_RECV_START, ANSWER, 1),
        record(2950, 0, nic, E.ACK_SEEN, ANSWER, 1),
        *([record(4000, 1, cpu, E.POLL_HIT, 0, 6, 0)] if asks & Control.OPERATION == 0 else []),
    ]
    return [row if row[2] == E.NIC_NOTICED else one for row, one in zip(rows, of_message(1, rows), strict=True)]


def test_a_descriptor_gets_its_key_when_it_is_read() -> None:
    (life,) = lives(posted(), legend=LEGEND_OF_VIA).lives
    (piece,) = life.pieces
    assert (life.name(LEGEND_OF_TWO), life.latency) == ("message 1, paris to metz, 64 B", 4_000_000)
    assert (piece.key, len(piece.packets)) == (5, 2)
    assert [(kind, sent.key) for kind, sent in piece.answers] == [("ACK", ANSWER)]
    assert piece.last(E.ACK_SEEN) is not None
    told = sums(life)
    assert (told["host_posts"], told["bus_and_turn"], told["nic_reads_descriptor"]) == (100, 100, 200)
    assert (told["fetch"], told["further_packets"], told["to_user_buffer"]) == (200, 410, 1900)


def test_the_operation_of_a_descriptor_is_in_its_name() -> None:
    (write,) = lives(posted(Control.RDMA_WRITE), legend=LEGEND_OF_VIA).lives
    assert write.name(LEGEND_OF_TWO) == "message 1, RDMA write, paris to metz, 64 B"
    assert write.latency == 2_200_000, "no process takes it"
    (both,) = lives(posted(Control.RDMA_WRITE | Control.IMMEDIATE), legend=LEGEND_OF_VIA).lives
    assert both.kind == "RDMA write, with immediate data"
    (message,) = lives(posted(vi=0), legend=LEGEND_OF_VIA).lives
    assert message.kind == "connection message"


def test_the_data_of_an_rdma_read_are_a_reply() -> None:
    asked = [row for row in posted(Control.RDMA_READ) if row[0] <= 2_000_000]
    data = [
        record(2100, 1, Part.NIC_CPU, E.NIC_REPLY, ANSWER, 5, made_for(1, 0), message=2),
        record(2200, 1, Part.NIC_CPU, E.NIC_DMA_START, ANSWER, 64, message=2),
        record(2300, 1, Part.NIC_CPU, E.NIC_DMA_DONE, ANSWER, message=2),
        *of_message(2, packet(2390, 1, 72, ANSWER)),
        record(2400, 1, Part.NIC_CPU, E.NIC_SEND_START, ANSWER, 64, message=2),
        record(3000, 0, Part.NIC_CPU, E.NIC_RECV_START, ANSWER, 1, message=2),
        record(3300, 0, Part.NIC_CPU, E.NIC_RECV_DONE, ANSWER, 64, message=2),
    ]
    read, reply = lives(asked, data, legend=LEGEND_OF_VIA).lives
    assert read.name(LEGEND_OF_TWO) == "message 1, RDMA read, paris to metz, 64 B"
    assert reply.name(LEGEND_OF_TWO) == "message 2, reply to message 1, metz to paris, 64 B"
    assert (sums(read)["nic_begins_reply"], read.latency) == (100, 2_100_000)
    told = sums(reply)
    assert (told["nic_orders_fetch"], told["fetch"], told["nic_finishes"]) == (100, 100, 300)


def test_stages_add_up_in_any_part_of_a_trace() -> None:
    parts = (read_and_reply(), [(t + 10**7, *rest) for t, *rest in posted()])
    whole = rows(trace(*parts))
    for cut in range(len(whole)):
        for some in (whole[cut:], whole[:cut]):
            for legend in (LEGEND_OF_TWO, LEGEND_OF_VIA):
                for life in Lives(legend).take_all(some).lives:
                    assert life.arrived is None or life.target is None or sums(life)


def timeline(*parts: list[Row], legend: Legend = LEGEND_OF_TWO) -> str:
    """Return the timeline of a made-up run as text."""
    events = made.timeline(Recorded(Path(), legend, trace(*parts)))
    return b"".join(events.parts({})).decode()


def test_timeline_names_packets_and_answers_and_draws_an_arrow_for_the_reply() -> None:
    told = timeline(read_and_reply())
    assert told.count('"name":"message 2, reply to message 1, metz to paris, 100 B"') > 6
    assert '"name":"ACK of message 2"' in told
    assert "control message" not in told
    assert told.count('"ph":"s"') == told.count('"ph":"f"') == 2, "an arrow for the read, one for its reply"
    told = timeline(posted(), legend=LEGEND_OF_VIA)
    assert "message 1, paris to metz, 64 B, packet 2 of 2" in told
    assert '"name":"ACK of message 1"' in told


def test_packets_of_a_layer_without_message_records_are_named_by_key() -> None:
    told = timeline(packet(0, 0, 40, key=0x0EC00105))
    assert '"name":"packet 0ec00105"' in told
    assert "control message" not in told


def test_queues_without_a_consumer_are_not_counted() -> None:
    assert "messages before the host" not in timeline(read_and_reply())
    assert "messages before the host" in timeline(message(0, 0))


def test_a_frame_buffer_is_a_process_with_its_transactions() -> None:
    frames = [
        record(100, 1, Part.FRAME, E.FRAME_START),
        record(300, 1, Part.FRAME, E.FRAME_END, 0, 0x40, 256),
        record(400, 1, Part.FRAME, E.FRAME_START),
        record(500, 1, Part.FRAME, E.FRAME_END, 0, 0x80, 0),
    ]
    told = timeline(frames)
    assert '"display of metz"' in told
    assert '"name":"256 B at 0x40"' in told
    assert '"name":"read at 0x80"' in told
