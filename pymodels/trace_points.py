"""Trace points of a NIC: bundles of trace signals from its engines, and the trace record of each strobe.

A trace point is a `Point` here, with the fields that it needs. `python -m pymodels.trace_points` writes the bundles
(`hdl/nic/common/myri_nic_trace_pkg.sv`), the probes (`hdl/sim/cluster/sim_nic_points.sv`) and the event codes
(`hdl/sim/probe/sim_trace_pkg.sv`). A test compares the committed files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pymodels.trace import Part, TraceEvent, systemverilog
from pymodels.trace_collections import COLLECTIONS


@dataclass(frozen=True)
class Field:
    """Field of a bundle."""

    name: str
    bits: int
    meaning: str


@dataclass(frozen=True)
class Point:
    """Trace point: one record at each clock edge with `strobe`. Names are fields of the bundle or inputs of the probe
    module.
    """

    event: TraceEvent
    part: Part
    strobe: str
    packet: str = ""
    argument: str = ""
    argument2: str = ""
    ago: str = ""
    """Field with the age of the event in clock edges; empty for no delay."""


@dataclass(frozen=True)
class Bundle:
    """Trace signals of one clock: the packed struct `<name>_t`."""

    name: str
    clock: str
    """Clock signal in the probe module."""
    index: str
    """Parameter that holds the number of the clock."""
    meaning: str
    fields: tuple[Field, ...]
    points: tuple[Point, ...] = ()
    heading: str = ""
    """Comment above the struct in the package."""


@dataclass(frozen=True)
class Derived:
    """Signal that `sim_nic_trace` derives from fields, for use by a point."""

    name: str
    bits: int
    meaning: str


# fmt: off
SEND = Bundle(
    "send_trace", "nic_gated_clk[ENGINE_SEND]", "CLOCK_NIC", "clk: of the send engine",
    (
        Field("tx_start", 1, "a packet was started ..."),
        Field("tx_start_ago", 32, "... this many edges ago"),
        Field("tx_start_at", 24, "SRAM address of its first byte"),
        Field("tx_start_key", 32, "packet key"),
        Field("tx_read", 1, "the packet's last byte went to the link side"),
        Field("tx_read_key", 32, "packet key"),
        Field("tx_read_bytes", 32, "bytes of the packet, route included"),
    ),
    (
        Point(TraceEvent.TX_START, Part.NET_SEND, "tx_start", "tx_start_key", "tx_start_at", ago="tx_start_ago"),
        Point(TraceEvent.TX_TAIL, Part.NET_SEND, "tx_read", "tx_read_key", "tx_read_bytes"),
    ),
)
RECEIVE = Bundle(
    "recv_trace", "nic_gated_clk[ENGINE_RECV]", "CLOCK_NIC", "clk: of the receive engine",
    (
        Field("rx_first", 1, "the first word of a packet is stored (HEAD)"),
        Field("rx_first_key", 32, "packet key"),
        Field("rx_first_at", 24, "SRAM address of that word"),
        Field("rx_done", 1, "its tail is stored (RECV)"),
        Field("rx_done_key", 32, "packet key"),
        Field("rx_done_bytes", 32, "bytes stored, syndrome included"),
        Field("rx_done_syndrome", 8, "CRC-8 syndrome, 0 = good"),
    ),
    (
        Point(TraceEvent.RX_HEAD, Part.NET_RECV, "rx_first", "rx_first_key", "rx_first_at"),
        Point(TraceEvent.RX_TAIL, Part.NET_RECV, "rx_done", "rx_done_key", "rx_done_bytes", "rx_done_syndrome"),
    ),
)
DMA = Bundle(
    "dma_trace", "nic_gated_clk[ENGINE_DMA]", "CLOCK_NIC", "clk: of the DMA engine",
    (
        Field("dma_start", 1, "a DMA block starts to move"),
        Field("dma_done", 1, "a DMA block is done"),
        Field("dma_chain", 2, "chain of the block, with both"),
        Field("dma_e2l", 1, "direction of the block, 1 = host to SRAM"),
        Field("dma_bytes", 32, "its length"),
        Field("dma_lar", 23, "SRAM address of the block; SP: number of the command"),
    ),
    (
        Point(TraceEvent.DMA_START, Part.HOST_DMA, "dma_start", "dma_lar", "dma_chain", "dma_moved"),
        Point(TraceEvent.DMA_DONE, Part.HOST_DMA, "dma_done", "dma_lar", "dma_chain", "dma_moved"),
    ),
)
PIO = Bundle(
    "pio_trace", "nic_gated_clk[ENGINE_PIO]", "CLOCK_NIC", "clk: of PIO and doorbells",
    (
        Field("pio_write", 1, "a write of the host has arrived ..."),
        Field("pio_addr", 24, "... at this offset of the card's region"),
        Field("doorbell", 1, "a doorbell entry is stored"),
        Field("doorbell_addr", 32, "address of the entry, also with doorbell_overflow"),
        Field("doorbell_data", 32, "data of the entry, also with doorbell_overflow"),
    ),
    (
        Point(TraceEvent.PIO_ACCEPT, Part.BRIDGE, "pio_run_start", argument="pio_word"),
        Point(TraceEvent.DOORBELL, Part.DOORBELL, "doorbell", "", "doorbell_addr", "doorbell_data"),
    ),
)
LINK = Bundle(
    "link_trace", "link_clk", "CLOCK_LINK", "link_clk: of the link",
    (
        Field("tx_head", 1, "first byte of a packet was sent tx_ago edges ago"),
        Field("tx_tail", 1, "the packet's GAP was sent"),
        Field("tx_key", 32, "packet key, with both"),
        Field("tx_ago", 32, "with tx_head"),
        Field("rx_head", 1, "first byte of a packet arrived rx_ago edges ago"),
        Field("rx_tail", 1, "the packet's GAP arrived"),
        Field("rx_key", 32, "packet key, with both"),
        Field("rx_ago", 32, "with rx_head"),
        Field("rx_bytes", 32, "with rx_tail: bytes, CRC character included"),
        Field("rx_syndrome", 8, "with rx_tail: CRC-8 syndrome"),
        Field("rx_overrun", 1, "strobe: slack overflow, a character was lost"),
        Field("crc_bad", 1, "strobe, with rx_tail"),
        Field("illegal", 1, "strobe: unknown control character"),
        Field("forward_reset", 1, "strobe: the packet sent was cut"),
        Field("link_stopped", 1, "level: the peer's STOP is in force"),
        Field("link_stopping", 1, "level: the local receiver's STOP is in force"),
        Field("beat_missed", 1, "level: the last due BEAT did not arrive"),
        Field("link_down", 1, "level: three successive BEATs did not arrive"),
        Field("fill", 8, "slack fill"),
    ),
    (
        Point(TraceEvent.TX_HEAD, Part.LINK, "tx_head", "tx_key", ago="tx_ago"),
        Point(TraceEvent.TX_TAIL, Part.LINK, "tx_tail", "tx_key"),
        Point(TraceEvent.RX_HEAD, Part.LINK, "rx_head", "rx_key", ago="rx_ago"),
        Point(TraceEvent.RX_TAIL, Part.LINK, "rx_tail", "rx_key", "rx_bytes", "rx_syndrome"),
    ),
    "Of the link clock.",
)
STATUS = Bundle(
    "nic_status", "", "", "",
    (
        Field("dma_error", 1, "a chain stopped by an error"),
        Field("doorbell_overflow", 1, "a doorbell entry was dropped"),
        Field("rx_lost", 1, "a packet was dropped or cut here"),
        Field("send_misuse", 1, "a write of the send registers was ignored"),
        Field("pio_misuse", 1, "a register write of the host was ignored"),
    ),
    heading="Strobes of the NIC clock: what the host or the firmware did wrong, or lost.",
)
# fmt: on
BUNDLES = (SEND, RECEIVE, DMA, PIO, LINK, STATUS)
DERIVED = (
    Derived("pio_run_start", 1, "the first of a run of writes to consecutive words has arrived"),
    Derived("pio_word", 24, "offset of its 64-bit word in the card's region"),
    Derived("dma_moved", 64, "bytes of the block, negative from SRAM to the host"),
)


def bundles() -> str:
    """Return the text of `hdl/nic/common/myri_nic_trace_pkg.sv`."""
    lines = [
        "// What is seen of a NIC: of each engine what the trace tells, and what must not happen. One bundle a clock.",
        "// Generated by `python -m pymodels.trace_points`.",
        "//",
        "// Packets: `_key` is the packet key (first four bytes after the route, big-endian), `_ago` the edges that",
        "// passed since the moment itself, 0 = this edge.",
        "package myri_nic_trace_pkg;",
    ]
    for bundle in BUNDLES:
        lines += [f"  // {bundle.heading}"] if bundle.heading else []
        lines.append("  typedef struct packed {")
        lines += [f"    {_vector(field.bits)} {field.name};  // {field.meaning}" for field in bundle.fields]
        lines.append(f"  }} {bundle.name}_t;")
    return "\n".join(lines) + "\n" + COLLECTIONS + "endpackage\n"


def probes() -> str:
    """Return the text of `hdl/sim/cluster/sim_nic_points.sv`."""
    traced = [bundle for bundle in BUNDLES if bundle.points]
    lines = [
        "// The trace points of a NIC: a probe for each strobe that leaves a record.",
        "// Generated by `python -m pymodels.trace_points`.",
        "module sim_nic_points",
        "  import myri_nic_engines_pkg::*;",
        "  import myri_nic_trace_pkg::*;",
        "  import sim_trace_pkg::*;",
        "#(",
        "    parameter int BASE       = 0,  // first unit number of the node",
        "    parameter int CLOCK_NIC  = 0,  // index of the NIC clock",
        "    parameter int CLOCK_LINK = 0   // index of the link clock",
        ") (",
        "    input logic rst,",
        "    input logic [ENGINES-1:0] nic_gated_clk,  // NIC clock of each engine",
        "    input logic link_clk,",
        *(f"    input {bundle.name}_t {bundle.name},  // {bundle.meaning}" for bundle in traced),
    ]
    ports = [f"    input {_vector(one.bits)} {one.name}" for one in DERIVED]
    lines += [f"{port},  // {one.meaning}" for port, one in zip(ports[:-1], DERIVED, strict=False)]
    lines += [f"{ports[-1]}  // {DERIVED[-1].meaning}", ");"]
    for bundle in traced:
        for point in bundle.points:
            lines += _probe(bundle, point)
    return "\n".join([*lines, "endmodule"]) + "\n"


def _probe(bundle: Bundle, point: Point) -> Iterator[str]:
    yield "  sim_probe #("
    yield f"      .UNIT (BASE + PART_{point.part.name}),"
    yield f"      .EVENT(EV_{point.event.name}),"
    yield f"      .CLOCK({bundle.index})"
    yield f"  ) probe_{bundle.name.split('_')[0]}_{point.strobe} ("
    yield f"      .clk({bundle.clock}),"
    yield "      .rst,"
    yield f"      .strobe({_value(bundle, point.strobe, 1)}),"
    yield f"      .packet({_value(bundle, point.packet, 32)}),"
    yield f"      .argument({_value(bundle, point.argument, 32)}),"
    yield f"      .argument2({_value(bundle, point.argument2, 64)}),"
    yield f"      .ago({_value(bundle, point.ago, 32)})"
    yield "  );"


def _value(bundle: Bundle, name: str, bits: int) -> str:
    """Return the SystemVerilog expression of a field or derived signal, zero-extended to `bits`; 0 for an empty
    name.
    """
    if not name:
        return f"{bits}'d0"
    places = {one.name: (one.name, one.bits) for one in DERIVED}
    places |= {field.name: (f"{bundle.name}.{field.name}", field.bits) for field in bundle.fields}
    place, has = places[name]
    return place if has == bits else f"{{{bits - has}'d0, {place}}}"


def _vector(bits: int) -> str:
    return "logic" if bits == 1 else f"logic [{bits - 1}:0]"


GENERATED = {
    "hdl/nic/common/myri_nic_trace_pkg.sv": bundles,
    "hdl/sim/cluster/sim_nic_points.sv": probes,
    "hdl/sim/probe/sim_trace_pkg.sv": systemverilog,
}
"""Functions that return the text of each generated file, by path."""

if __name__ == "__main__":
    for name, text in GENERATED.items():
        (Path(__file__).parents[1] / name).write_text(text(), encoding="utf-8")
