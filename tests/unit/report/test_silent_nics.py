"""Messages of layers whose NICs leave no records: a card without a processor, firmware without records.

Strategy: in made-up traces of two hosts only the hosts and the hardware leave records. The message written by the host
is found on the wire by its number. Its receiver takes it by its number or, behind firmware in C, in the order of
arrival. Then faults are made: a packet is damaged, a message is in the queue of the other node under the same key, a
message never comes. The stages must add up. At last the drivers of echo and of the FIFO card run on the machine, and
leave the records needed for this, in their order.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.layers import host_library, nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine
from pymodels.trace import Part, TraceEvent
from tb.report.lives import Lives
from tb.report.stages import stages_of
from tb.report.wire import rows
from tests.unit.report.madeup_trace import KEY, LEGEND_OF_TWO, Row, of_message, packet, record, trace

E = TraceEvent
CPU = Part.HOST_CPU


def lives(*parts: list[Row], executing: tuple[int, ...] = ()) -> Lives:
    legend = replace(LEGEND_OF_TWO, layers=("fifo",), executing=executing)
    return Lives(legend).take_all(rows(trace(*parts)))


def written(at: int, node: int, number: int = 1, key: int = KEY) -> list[Row]:
    """Make a call of `send` whose packet is in the card 300 ns later."""
    return [
        record(at, node, CPU, E.SEND_CALL, 0, 16, message=2 * number - 1 + node),
        record(at + 300, node, CPU, E.PAYLOAD_WRITTEN, key, 24, message=2 * number - 1 + node),
        record(at + 350, node, CPU, E.POINTER_WRITTEN, key, 1, message=2 * number - 1 + node),
    ]


def taken(at: int, node: int, number: int = 1) -> list[Row]:
    """Let the host find a message of the other one, and load it within 500 ns; `number` 0: it knows no number."""
    message = 2 * number - node if number else 0
    return [
        record(at, node, CPU, E.POLL_HIT, message=message),
        record(at + 500, node, CPU, E.HANDLER_START, 0, 0, 1 - node, message=message),
    ]


def sent(at: int, node: int, size: int, number: int = 1, key: int = KEY) -> list[Row]:
    """Send the packet of a message."""
    return of_message(2 * number - 1 + node, packet(at, node, size, key))


@pytest.mark.parametrize("executing", [(), (0, 1)])
def test_a_message_is_tracked_by_number_or_behind_firmware_in_c_by_order(executing: tuple[int, ...]) -> None:
    takes = taken(1000, 1, 0 if executing else 1)
    goes = packet(400, 0, 24) if executing else sent(400, 0, 24)
    (life,) = lives(written(0, 0), goes, takes, executing=executing).lives
    assert (life.target, life.latency, [piece.key for piece in life.pieces]) == (1, 1_500_000, [KEY])
    assert len(life.pieces[0].packets) == 1
    stages = {stage.name: stage.duration // 1000 for stage in stages_of(life)}
    assert sum(stages.values()) == 1500
    assert (stages["host_send"], stages["host_pointer"], stages["bus_and_turn"]) == (300, 50, 50)
    assert stages["host_takes"] == 500


def test_messages_of_equal_keys_from_both_sides_are_distinguished() -> None:
    told = lives(written(0, 0), written(0, 1), sent(400, 0, 24), sent(2000, 1, 24), taken(1000, 1), taken(2600, 0))
    assert [(life.node, life.target, life.latency) for life in told.lives] == [(0, 1, 1_500_000), (1, 0, 3_100_000)]


def test_the_cells_of_a_message_form_one_life_that_ends_with_the_last_cell() -> None:
    second = written(500, 0, key=KEY + 1)[1:]
    cells = [sent(400, 0, 53), sent(900, 0, 53, key=KEY + 1)]
    looks = [record(1000, 1, CPU, E.POLL_HIT, message=1), *taken(1500, 1)]
    (life,) = lives(written(0, 0), second, *cells, looks).lives
    assert [piece.key for piece in life.pieces] == [KEY, KEY + 1]
    assert sum(stage.duration for stage in stages_of(life)) == life.latency == 2_000_000


def test_a_damaged_packet_is_skipped_in_the_order_of_messages() -> None:
    damaged = [
        (*row[:5], 0x5A, 1) if row[2] == E.RX_TAIL and row[1] % 16 == Part.LINK else row for row in sent(400, 0, 24)
    ]
    parts = written(0, 0), damaged, written(2000, 0, 2, KEY + 1), sent(2400, 0, 24, 2, KEY + 1), taken(3000, 1, 0)
    told = lives(*parts, executing=(0, 1))
    assert [life.latency for life in told.lives] == [None, 1_500_000]


def test_a_message_that_no_host_takes_has_not_arrived() -> None:
    (life,) = lives(written(0, 0), sent(400, 0, 24)).lives
    assert (life.target, life.arrived, stages_of(life)) == (1, None, [])


@pytest.mark.parametrize(
    ("layer", "kind", "options", "told"),
    [
        ("echo", "lanai9", {}, ["SEND_CALL", "PAYLOAD_WRITTEN", "POLL_HIT"]),
        (
            "fifo",
            "fifo",
            {"form": "buffers"},
            ["SEND_CALL", "PAYLOAD_WRITTEN", "POINTER_WRITTEN", "POLL_HIT", "HANDLER_START"],
        ),
        (
            "fifo",
            "fifo",
            {"form": "cells"},
            ["SEND_CALL", "PAYLOAD_WRITTEN", "PAYLOAD_WRITTEN", "POLL_HIT", "POLL_HIT", "HANDLER_START"],
        ),
    ],
)
def test_the_drivers_write_the_expected_records(
    layer: str, kind: str, options: dict[str, str], told: list[str]
) -> None:
    machine = Machine(2, nic=kind, trace=True)
    views = [ClusterView(**machine.view(node, **options)) for node in range(2)]
    libraries = [host_library(layer)(machine.host(node), views[node]) for node in range(2)]
    if layer == "echo":
        for node in range(2):
            machine.nic(node).spawn(nic_program(layer)(machine.nic(node), views[node]), layer)
    machine.finish(*(library.start() for library in libraries))
    machine.finish(libraries[0].send(1, bytes(60)), libraries[1].receive())
    records = sorted(machine.trace.records, key=lambda row: row[1])
    assert [E(row[2]).name for row in records if row[2] < E.WORK_START] == told, "the sender's, then the receiver's"
