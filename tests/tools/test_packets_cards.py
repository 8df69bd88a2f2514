"""Packets of layers on FIFO cards in Wireshark: dissection of HPAM's messages and SSAM's cells.

Strategy: packets are built with the layers' own formats, and the output of tshark is compared field by field. Packets
with a bad check or size are not cells of SSAM.
"""

from __future__ import annotations

import struct
from pathlib import Path

from firmware.hpam.host import message as hpam
from firmware.nics.fifo.cells import FIRST, PART, WORD, key
from firmware.ssam.host import message as ssam
from pymodels.nics.fifo.cells import Cell
from tests.tools.test_packets import dissected, packet, sealed


def test_messages_of_hpam_are_dissected(tmp_path: Path) -> None:
    header = hpam.Header(hpam.TYPE, 3, 200, 0xFEED, 0x400040, 1 << 4 | 2, 2, 77, 5)
    sent = header.packed() + struct.pack(">2I", 7, 0xFFFFFFFF) + b"bytes" + bytes(3)
    names = "source", "number", "key", "handler", "kind", "slot", "sequence", "bytes", "argument", "data"
    fields = *(f"hpam.{name}" for name in names), "_ws.col.Info"
    (row,) = dissected(tmp_path, [packet(sealed(sent))], *fields, layer="hpam")
    assert row[:9] == ["3", "200", "0x0000feed", "0x00400040", "1", "2", "77", "5", "7,4294967295"]
    assert row[9] == b"bytes".hex()
    assert row[10] == "reply of node 3, slot 2, sequence 77, handler 0x400040, 2 arguments, 5 bytes"


def cell(number: int, left: int, data: bytes) -> bytes:
    """Return a cell from node 5 to node 1."""
    return Cell(key(5, 1, number), WORD.pack(5, number, left) + data.ljust(PART, b"\0")).wire


def test_cells_of_ssam_and_the_message_that_begins_in_one_are_dissected(tmp_path: Path) -> None:
    message = ssam.Header(0xFEED, 0x400040, 5, 1, 1, 2, 40).packed() + struct.pack(">2I", 7, 8) + bytes(range(40))
    cells = [cell(9, FIRST | len(message), message[:PART]), cell(10, len(message) - PART, message[PART:])]
    wrong = bytes([cells[1][0]]) + b"\xff" + cells[1][2:]
    packets = [packet(sealed(one)) for one in (*cells, wrong, cells[1] + bytes(8))]
    names = "number", "source", "destination", "first", "left", "key", "kind", "bytes", "part"
    rows = dissected(tmp_path, packets, *(f"ssam.{name}" for name in names), "_ws.col.Info", layer="ssam")
    assert rows[0][:3] + rows[0][4:8] == ["9", "5", "1", str(len(message)), "0x0000feed", "1", "40"]
    assert rows[0][8:] == [message[:PART].hex(), "cell 9 from 5 to 1: reply, handler 0x400040, 2 arguments, 40 bytes"]
    assert rows[1][4:] == ["20", "", "", "", message[PART:].hex(), "cell 10 from 5 to 1: 20 bytes left"]
    assert [row[0] for row in rows[2:]] == ["", ""], "a wrong check, and more than a cell"
