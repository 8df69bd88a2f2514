"""packets.pcapng: tshark with the dissector must read the bytes that were on the wires.

Strategy: packets are built with the models of the wire format, stored like by the doorway's C, written, and read back
by tshark, field by field. A flipped bit, a packet cut by the capture and a packet too short must be reported as such.
Connection messages, whose numbers are also in the Lua, are compared with those of Python by name. The system test
compares with a real run.
"""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from firmware.am.nic import layout as am
from firmware.am2.nic import words as am2
from firmware.echo.nic import layout as echo
from firmware.grim import formats as grim
from firmware.grim.formats import Cause, Header, MessageType
from firmware.hal.nic import layout as hal
from firmware.lapi.host import header as lapi
from firmware.lapi.host.outgoing import PROTOCOL as LAPI
from firmware.pipes.host import header as pipes
from firmware.shown import Plain, Shown
from firmware.tmk.host import wire
from firmware.tmk.host.over_udp import REQUESTS_PORT, RESPONSES_PORT
from firmware.udp import formats as udp
from firmware.udp.nic import layout as frames
from firmware.via import formats as via
from firmware.via.host.kernel_agent.messages.message import Message, Type
from pymodels.formats.sp import SpPacket
from pymodels.hardware.discover import nic_kind
from pymodels.link.crc8 import crc8
from pymodels.results import ResultsError
from tb.report import dissector
from tb.report.dissector import write_dissector
from tb.report.packets import RECORD, Captured, captured, directions, ends, write_packets
from tb.report.recorded import Legend
from tests.patience import PATIENCE_S
from tests.unit.report.madeup_trace import LEGEND_OF_TWO

MYRINET, SP = (nic_kind(name).network.capture_type for name in ("lanai9", "sp"))

LUA = Path(__file__).parents[2] / "firmware" / "via" / "dissector.lua"
ROUTE = bytes([0x81])
PAYLOAD = bytes(range(60, 70))
DATA = Header(7, 9, MessageType.ACTIVE, 2, 0, 0x0000, 3, 0x0100, 0x0102, 17, (1, -2, 3, 4)).pack() + PAYLOAD.ljust(16)
ACK = struct.pack(">2I", *grim.control(MessageType.ACK, 7, 9, 1))
ERROR = struct.pack(">2I", *grim.control(MessageType.ERROR, 7, 9, 1, Cause.BEYOND, 3))
ECHO = echo.HEADER.pack(echo.TYPE, 1, 5, 0, 3) + b"abc".ljust(8)
INTO_PARIS, INTO_METZ, INTO_SW0_0, INTO_SW0_1 = 0, 1, 2, 3


def sealed(data: bytes) -> bytes:
    """Return a packet with its CRC-8."""
    return data + bytes([crc8(data)])


def dissected(
    folder: Path,
    packets: list[Captured],
    *fields: str,
    layer: str = "grim",
    above: tuple[str, ...] = (),
    link_type: int = MYRINET,
) -> list[list[str]]:
    """Return these fields of each packet of a layer, and of the layers above, according to tshark."""
    legend = replace(LEGEND_OF_TWO, layers=(layer, *above), nic="sp" if link_type == SP else "lanai9")
    path, script = folder / "packets.pcapng", folder / "dissector.lua"
    write_dissector(legend, script)
    write_packets(packets, legend, path, link_type=link_type)
    words = [word for field in fields for word in ("-e", field)]
    checked = [word for name in ("ip", "udp") for word in ("-o", f"{name}.check_checksum:TRUE")]
    command = [
        "tshark",
        *checked,
        "-X",
        f"lua_script:{script}",
        "-r",
        str(path),
        "-T",
        "fields",
        "-E",
        "occurrence=a",
        *words,
    ]
    ended = subprocess.run(command, encoding="utf-8", capture_output=True, check=False, timeout=PATIENCE_S)
    assert ended.returncode == 0, ended.stderr
    assert "Lua" not in ended.stderr, ended.stderr
    return [line.split("\t") for line in ended.stdout.splitlines()]


def shown_as(monkeypatch: pytest.MonkeyPatch, seen: Shown) -> None:
    """Have the layer `echo` show its packets in another way."""
    monkeypatch.setattr(dissector, "shown", lambda layer: seen)


def test_packets_of_several_plain_types_are_dissected_by_their_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Plain(0x0EC0, {"number": (1, "Number"), "bytes": (2, "Payload bytes")}, "data")
    ack = Plain(0x0EC1, {"upto": (4, "Last packet that arrived")}, "ack")
    shown_as(monkeypatch, Shown(plain=(data, ack)))
    sent = [struct.pack(">HBH", 0x0EC0, 7, 3) + b"abc", struct.pack(">HI", 0x0EC1, 70_000)]
    fields = ("_ws.col.Protocol", "mine_data_layer.number", "mine_data_layer.payload", "mine_ack_layer.upto")
    found = dissected(tmp_path, [packet(sealed(one)) for one in sent], *fields, layer="mine")
    assert found == [["mine_data", "7", "616263", ""], ["mine_ack", "", "", "70000"]]


def test_plain_types_need_names_and_numbers_of_their_own() -> None:
    one, two = Plain(1, {"a": (1, "A")}, "one"), Plain(2, {"b": (1, "B")}, "two")
    assert Shown().plain_types == ()
    assert Shown(plain=Plain(1, {})).plain_types == (Plain(1, {}),)
    assert Shown(plain=(one, two)).plain_types == (one, two)
    for wrong in ((one, replace(two, name="one")), (one, replace(two, name="")), (one, replace(two, type=1))):
        with pytest.raises(ValueError, match="give each type its own name"):
            _ = Shown(plain=wrong).plain_types


def packet(data: bytes, cable: int = INTO_SW0_0, at_ps: int = 1_234_567_890_123, length: int = 0) -> Captured:
    return Captured(at_ps, at_ps + 6250 * len(data), cable, length or len(data), data)


def test_a_message_is_dissected(tmp_path: Path) -> None:
    fields = {
        "frame.time_epoch": "1.234567890",
        "frame.interface_name": "paris.0-sw0.0",
        "frame.packet_flags_direction": "0x00000002",
        "myrinet.route": "81",
        "myrinet.route.delta": "1",
        "myrinet.type": "0x06360709",
        "myrinet.crc.good": "1",
        "grim.token": "7",
        "grim.sequence": "9",
        "grim.type": "0x01",
        "grim.source": "0",
        "grim.destination": "1",
        "grim.bytes": "10",
        "grim.channel.source": "1",
        "grim.channel.destination": "2",
        "grim.handler": "17",
        "grim.argument": "1,-2,3,4",
        "grim.payload": PAYLOAD.hex(),
        "grim.padding": b" ".hex() * 6,
        "_ws.col.Info": "ACTIVE VNN 0 to 1, 10 bytes, handler 17, token 7 sequence 9",
    }
    (row,) = dissected(tmp_path, [packet(sealed(ROUTE + DATA))], *fields)
    assert dict(zip(fields, row, strict=True)) == fields


def test_answers_are_shown_by_name(tmp_path: Path) -> None:
    rows = dissected(
        tmp_path,
        [packet(sealed(ACK), INTO_PARIS), packet(sealed(ROUTE + ERROR), INTO_SW0_1)],
        "frame.interface_name",
        "frame.packet_flags_direction",
        "grim.cause",
        "grim.channel",
        "_ws.col.Info",
    )
    assert rows == [
        ["paris.0-sw0.0", "0x00000001", "", "0", "ACK of token 7 sequence 9 from VNN 1"],
        ["metz.0-sw0.1", "0x00000002", "5", "3", "ERROR of token 7 sequence 9 from VNN 1"],
    ]


def test_echo_and_unknown_layers(tmp_path: Path) -> None:
    unknown = struct.pack(">I", 0x01020304) + b"whatever"
    rows = dissected(
        tmp_path,
        [packet(sealed(ECHO), INTO_METZ), packet(sealed(unknown), INTO_METZ)],
        "echo_layer.payload",
        "_ws.col.Protocol",
        "_ws.col.Info",
        layer="echo",
    )
    assert rows == [
        [b"abc".hex(), "echo", "source 1, number 5, destination 0, bytes 3"],
        ["", "Myrinet", "type 0x01020304, 8 bytes"],
    ]


def test_the_payload_is_shown_in_the_format_of_the_layer_above(tmp_path: Path) -> None:
    header = Header(7, 9, MessageType.ACTIVE, 2, 0, 0x0000, 3, 0x0100, 0x0102, len(ECHO), (1, -2, 3, 4)).pack()
    fields = ("grim.handler", "echo_layer.number", "_ws.col.Protocol")
    ((handler, number, protocol),) = dissected(
        tmp_path, [packet(sealed(header + ECHO), INTO_METZ)], *fields, above=("echo",)
    )
    assert (bool(handler), number, protocol) == (True, "5", "echo")


def test_damage_is_reported(tmp_path: Path) -> None:
    flipped = bytearray(sealed(DATA))
    flipped[40] ^= 4
    longer = Header(7, 9, MessageType.ACTIVE, 0, 0, 0, 300, 0x0100, 0, 17, (0, 0, 0, 0)).pack()
    packets = [
        packet(bytes(flipped)),
        packet(b"\x81\x06\x36"),
        packet(sealed(DATA)[:20], length=49),
        packet(sealed(longer)),
    ]
    rows = dissected(tmp_path, packets, "myrinet.crc.good", "_ws.expert.message")
    cut = "Shorter than its header says"
    assert rows == [["0", "CRC-8 is wrong"], ["", "Too short for a packet"], ["", cut], ["1", cut]]


def test_the_store_of_the_doorway_is_read_in_the_order_of_beginnings() -> None:
    def stored(began: int, data: bytes, length: int) -> bytes:
        return RECORD.pack(began, began + 9, 2, length, len(data), 0) + data + bytes(-len(data) & 7)

    halves = [memoryview(stored(50, b"abc", 3)), memoryview(stored(40, b"12345678", 100) + stored(60, b"", 0))]
    assert captured(halves) == [
        Captured(40, 49, 2, 100, b"12345678"),
        Captured(50, 59, 2, 3, b"abc"),
        Captured(60, 69, 2, 0, b""),
    ]


def test_a_file_records_the_number_of_missing_packets(tmp_path: Path) -> None:
    write_packets([packet(sealed(ACK))], LEGEND_OF_TWO, tmp_path / "p.pcapng", dropped=12)
    assert b"12 earlier packets were dropped" in (tmp_path / "p.pcapng").read_bytes()


def test_every_cable_is_an_interface_and_every_direction_has_one() -> None:
    legend = Legend(
        ("a", "b"),
        (("s", 4), ("t", 4)),
        (("a", 0, "s", 3), ("t", 1, "b", 0), ("s", 0, "t", 0)),
        (),
        {"nic": 7500, "link": 6250, "pci": 15000},
    )
    cables = ends(legend)
    assert cables == [(("a", 0), ("s", 3)), (("b", 0), ("t", 1)), (("s", 0), ("t", 0))]
    assert directions(legend, cables) == {5: (0, 2), 7: (1, 2), 6: (2, 2), 0: (0, 1), 1: (1, 1), 2: (2, 1)}


def test_the_dissector_knows_the_connection_messages() -> None:
    found = re.search(r"local MESSAGES = \{(.*?)\}", LUA.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    rows = {int(number): name for number, name in re.findall(r'\[(\w+)\] = "(\w+)"', found[1])}
    assert rows == {int(one): one.name for one in Type}, f"write these numbers into {LUA}"


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "packets.pcapng").mkdir()
    with pytest.raises(ResultsError, match="not written"):
        write_packets([packet(sealed(ACK))], LEGEND_OF_TWO, tmp_path / "packets.pcapng")
    assert [path.name for path in tmp_path.iterdir()] == ["packets.pcapng"]


VIA_TOLD = ("via.kind", "via.vi", "via.source", "via.connection", "via.number", "_ws.col.Info")
CONNECTION_MESSAGE = Message(Type.ACCEPT, 1, 0, 9, 2, 3, 77, 1, 4096).packed()
VIA_PACKETS = {
    (via.Kind.SEND, 3, b"0123456789"): ("0", "3", "SEND from node 5 to VI 3, 10 bytes, message 6, first, sequence 8"),
    (via.Kind.ADDRESS, 3, struct.pack(">2I", 0x1000, 7)): (
        "2",
        "3",
        "ADDRESS from node 5 to VI 3, 8 bytes, message 6, first, sequence 8",
    ),
    (via.Kind.IMMEDIATE, 3, b"\0\0\0*"): (
        "1",
        "3",
        "IMMEDIATE from node 5 to VI 3, 4 bytes, message 6, first, sequence 8",
    ),
    (via.Kind.READ, 3, b"\0\0\1\0"): ("4", "3", "READ from node 5 to VI 3, 4 bytes, message 6, first, sequence 8"),
    (via.Kind.NOT_ALLOWED, 3, b""): ("12", "3", "NOT_ALLOWED of message 8 from node 5 to VI 3"),
    (via.Kind.SEND, 0, CONNECTION_MESSAGE): (
        "0",
        "0",
        "connection ACCEPT from node 5 to VI 0, 36 bytes, message 6, first, sequence 8",
    ),
}


@pytest.mark.parametrize("link_type", [MYRINET, SP])
def test_packets_of_via_are_dissected_on_both_networks(tmp_path: Path, link_type: int) -> None:
    packets, wanted = [], []
    for (kind, vi, data), (number, to, info) in VIA_PACKETS.items():
        words = via.Header(5, 9, 6, len(data) & via.REST, vi, kind, True, False, 8).words()
        padded = struct.pack(">2I", *words) + data + bytes(-len(data) % 8)
        sp = SpPacket(b"\x82", 5, 1, words, data).to_wire()
        packets.append(packet(sealed(ROUTE + padded) if link_type == MYRINET else sp))
        wanted.append([number, to, "5", "9", "6", info])
    assert dissected(tmp_path, packets, *VIA_TOLD, layer="via", link_type=link_type) == wanted
    fields = (
        "via.data",
        "via.rdma.address",
        "via.rdma.handle",
        "via.immediate",
        "via.agent.type",
        "via.agent.most",
        "via.rdma.bytes",
    )
    rows = dissected(tmp_path, packets, *fields, layer="via", link_type=link_type)
    assert rows[0][0] == b"0123456789".hex()
    assert rows[1][1:3] == ["0x00001000", "0x00000007"]
    assert rows[2][3] == "0x0000002a"
    assert rows[3][6] == "256"
    assert rows[5][4:6] == ["2", "4096"]


@pytest.mark.parametrize("link_type", [MYRINET, SP])
def test_packets_of_hal_are_dissected_on_both_networks(tmp_path: Path, link_type: int) -> None:
    words = hal.header(5, 6, hal.Order(10, 3, 0, 1, 0))
    data, no_size = b"0123456789", hal.header(5, 6, hal.Order(12, 3, 0, 1, 0))
    packets = []
    for head in (words, no_size):
        padded = struct.pack(">2I", *head) + data + bytes(-len(data) % 8)
        sp = SpPacket(b"\x82", 5, 1, head, data).to_wire()
        packets.append(packet(sealed(ROUTE + padded) if link_type == MYRINET else sp))
    fields = "hal.source", "hal.number", "hal.protocol", "hal.bytes", "hal.data", "_ws.col.Info"
    told_of, other = dissected(tmp_path, packets, *fields, layer="hal", link_type=link_type)
    assert told_of == ["5", "7", "3", "10", data.hex(), "packet 7 from node 5, protocol 3, 10 bytes"]
    assert other[0] == ("5" if link_type == MYRINET else "")  # 12 bytes may be padded to 16, 10 are too few


def test_messages_of_treadmarks_are_dissected_in_datagrams(tmp_path: Path) -> None:
    source, target, packets = udp.address(5), udp.address(1), []
    asked = wire.Message(wire.Kind.LOCK, 5, 17, 8, wire.words([3, 0, 1])), REQUESTS_PORT
    for message, port in (asked, (wire.Message(wire.Kind.WHOLE, 5, 4, 9, bytes(12), 1, 2), RESPONSES_PORT)):
        data = message.pack()
        head = udp.Udp(1024, port, udp.UDP_BYTES + len(data))
        datagram = head._replace(sum=udp.datagram_sum(source, target, head.pack() + data)).pack() + data
        sent = udp.Ip(source, target, 77, udp.IP_BYTES + len(datagram)).pack() + datagram
        header = struct.pack(">2I", *frames.header(5, 6, len(sent)))
        packets.append(packet(sealed(ROUTE + header + sent + bytes(-len(sent) % 8))))
    names = "kind", "source", "part", "parts", "number", "sequence", "bytes", "asker"
    fields = [f"sanlabtmk.{name}" for name in names]
    request, response = dissected(tmp_path, packets, *fields, layer="udp", above=("tmk",))
    assert request == ["1", "5", "0", "1", "17", "8", "12", "3"]
    assert response == ["19", "5", "1", "2", "4", "9", "12", ""]


def test_frames_of_udp_are_ip_packets_with_checksums_that_are_right(tmp_path: Path) -> None:
    data, source, target = b"0123456789", udp.address(5), udp.address(1)
    head = udp.Udp(1024, 2049, udp.UDP_BYTES + len(data))
    datagram = head._replace(sum=udp.datagram_sum(source, target, head.pack() + data)).pack() + data
    ip = udp.Ip(source, target, 77, udp.IP_BYTES + len(datagram)).pack()
    packets = []
    for sent in (ip + datagram, ip[:-1] + b"\x63" + datagram):
        words = struct.pack(">2I", *frames.header(5, 6, len(sent)))
        packets.append(packet(sealed(ROUTE + words + sent + bytes(-len(sent) % 8))))
    fields = "sanlabudp.source", "sanlabudp.number", "sanlabudp.bytes", "ip.src", "udp.dstport", "ip.checksum.status"
    checked = "udp.checksum.status", "data.data"
    told_of, other = dissected(tmp_path, packets, *fields, *checked, layer="udp")
    assert told_of == ["5", "7", "38", "10.0.0.6", "2049", "1", "1", data.hex()]
    assert other[5] == "0", "another address is not covered by the checksum"


def test_messages_of_am_and_their_payload_are_dissected(tmp_path: Path) -> None:
    data, control = bytes(range(10)), am.Control(kind=1, slot=2, arguments=2, size=10)
    words = (5 << 24 | 0xABCDEF, 0x400040, 7, 0xFFFFFFFF, 0, 0, 0, control.word)
    message = struct.pack(">8I", *words)
    payload = struct.pack(">2I", am.key(3, 8, payload=True), am.second(control, True)) + data.ljust(16)
    packets = [payload, struct.pack(">2I", am.key(3, 8), am.second(control, False)) + message]
    fields = "am.source", "am.number", "am.kind", "am.slot", "am.bytes", "am.payload", "am.handler", "am.argument"
    rows = dissected(
        tmp_path, [packet(sealed(one)) for one in packets], *fields, "am.image", "_ws.col.Info", layer="am"
    )
    common, last = ["3", "17", "1", "2", "10"], "to 5, handler 0x400040, 2 arguments, 10 bytes"
    assert rows == [
        [*common, data.hex(), "", "", "", "payload of the reply of node 3, slot 2, 10 bytes"],
        [
            *common[:1],
            "18",
            "1",
            "2",
            "32",
            "",
            "0x00400040",
            "7,4294967295",
            "0xabcdef",
            f"reply of node 3, slot 2, {last}",
        ],
    ]


def test_messages_of_am2_with_payload_and_the_nics_answers_are_dissected(tmp_path: Path) -> None:
    head = am2.Head(am2.Kind.BULK, 2, 9, transfer=3).word
    words = (head, 1 << 16 | 7, *am2.tag_words(0xAB), 10 << 16, 4096, *am2.tag_words(0xCD), 5, 6, *(0,) * 6)
    message = struct.pack(">18I", am2.name(2, 4, 1, 300), am2.Second(1, 17, 33).word(am2.LEAD + 10), *words)
    answer = am2.Second(1, 17, 33, control=True).word(4 * am2.CONTROL_WORDS)
    refused = struct.pack(">8I", am2.control_name(1, 8), answer, am2.Code.BAD_TAG, *(0,) * 5)
    names = "source", "endpoint", "number", "channel", "sequence", "transfer", "handler", "node", "to", "offset"
    fields = *(f"am2.{name}" for name in names), "am2.argument", "am2.payload", "am2.code", "_ws.col.Info"
    packets = [packet(sealed(one)) for one in (message + bytes(range(10)).ljust(16), refused)]
    first, second = dissected(tmp_path, packets, *fields, layer="am2")
    where = "to endpoint 7 of node 1, handler 9, 2 arguments, 10 bytes"
    assert first[:10] == ["2", "4", "300", "17", "33", "3", "9", "1", "7", "4096"]
    assert first[10:] == ["5,6", bytes(range(10)).hex(), "", f"node 2, channel 17: reply of endpoint 4, {where}"]
    assert second[10:] == ["", "", "2", "node 1, channel 17: returned: BAD_TAG"]


def test_the_header_of_a_stream_is_dissected_within_a_packet_of_hal(tmp_path: Path) -> None:
    data = pipes.Header(pipes.ASKS, 7000, 5, 65541).packed() + b"of the stream"
    head = hal.header(5, 6, hal.Order(len(data), pipes.PROTOCOL, 0, 1, 0))
    packets = [packet(SpPacket(b"\x82", 5, 1, head, data).to_wire())]
    fields = "hal.bytes", "pipes_layer.flags", "pipes_layer.position", "pipes_layer.come", "pipes_layer.room"
    assert dissected(tmp_path, packets, *fields, layer="hal", above=("pipes",), link_type=SP) == [
        ["29", "2", "7000", "5", "65541"]
    ]


def test_the_header_of_lapi_is_dissected_within_a_packet_of_hal(tmp_path: Path) -> None:
    fields = {
        "kind": lapi.Kind.AMSEND, "flags": lapi.Flag.FIRST, "sequence": 70_000, "expected": 9, "beyond": 2,
        "message": 300, "user": 4, "offset": 0, "size": 10, "address": 0x800_0010, "counter": 44, "completion": 48,
        "first": 5, "second": 6,
    }  # fmt: skip
    data = lapi.Header(**fields).pack() + b"user" + b"10 letters"
    head = hal.header(5, 6, hal.Order(len(data), LAPI, 0, 1, 0))
    packets = [packet(SpPacket(b"\x82", 5, 1, head, data).to_wire())]
    names = [f"lapi_layer.{name}" for name in fields]
    assert dissected(tmp_path, packets, *names, layer="hal", above=("lapi",), link_type=SP) == [
        [str(int(value)) for value in fields.values()]
    ]


def test_a_reply_names_its_read_and_a_copy_its_origin(tmp_path: Path) -> None:
    read = grim.GRIM_ID << 16 | 7 << 8 | 9
    reply = Header(1, 2, MessageType.RM_REPLY, 0, 0, 0x0100, 0, 0, 0, 0, (64, read, 4, 0)).pack()
    copy = Header(1, 3, MessageType.FORWARDED, 0, 2, 0x0101, 0, 0x0400, 0, 0, (0, 0, 0, 0)).pack()
    fields = ("grim.reply.token", "grim.reply.sequence", "grim.origin")
    rows = dissected(tmp_path, [packet(sealed(reply)), packet(sealed(copy))], *fields)
    assert rows == [["7", "9", ""], ["", "", "4"]]


def test_a_packet_of_an_sp_switch_is_dissected(tmp_path: Path) -> None:
    """Dissect a good packet, one with a flipped bit, one with another length in its header, and one too short."""
    good = SpPacket(b"\x82\xbf", 3, 5, (0x01020304, 0x05060708), b"data").to_wire()
    flipped = good[:20] + bytes([good[20] ^ 1]) + good[21:]
    longer = sealed(good)
    fields = ("sp.route", "sp.route.delta", "sp.source", "sp.destination", "sp.bytes", "sp.via.key", "sp.data")
    marks = ("sp.crc.good", "sp.crc.bad", "sp.size", "sp.short")
    found = dissected(tmp_path, [packet(d) for d in (good, flipped, longer, good[:24])], *fields, *marks, link_type=SP)
    assert found[0][:7] == ["82bf", "2,-1", "3", "5", "12", "0x01020304", "64617461"]
    told_of = [
        [mark for mark, field in zip(marks, row[7:], strict=True) if field not in ("", "0", "False")] for row in found
    ]
    assert told_of == [["sp.crc.good"], ["sp.crc.bad"], ["sp.crc.good", "sp.size"], ["sp.short"]]
