"""Text signals added to FST files.

Strategy: a small FST file is written here byte by byte, in the forms that Icarus and our own writer use: hierarchy in
gzip and LZ4, lists of times packed and not, several blocks. Texts are added, and the file is read with the reader of
Surfer. tests/system/test_waves.py does the same with files of both simulators.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from struct import pack

import pyarrow as pa
import pytest
import pywellen

from pymodels.errors import SanlabError
from tb.report.fst import Text, add_texts, times_of

Changes = list[tuple[int, int]]
"""Times and values of a one-bit signal."""


def block(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + pack(">Q", len(content) + 8) + content


def leb(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80]) + leb(value >> 7) if value >> 7 else bytes([value])


def values(changes: Changes, packed: bool) -> bytes:
    """Return a block with the changes of signal 1; signal 2 has none."""
    times = [time for time, _ in changes]
    steps = b"".join(leb(time - before) for before, time in zip([0, *times], times, strict=False))
    chain = b"".join(leb((1 if at else 0) << 2 | value << 1) for at, (_, value) in enumerate(changes))
    data = zlib.compress(steps) if packed else steps
    index = leb(1 * 2 + 1) + leb(1 << 1)
    content = pack(">QQQ", times[0], times[-1], len(chain)) + leb(2) + leb(2) + leb(2) + b"xx"
    content += leb(2) + b"4" + b"\0" + chain + index + pack(">Q", len(index))
    return block(8, content + data + pack(">QQQ", len(steps), len(data), len(times)))


def declarations(form: str) -> bytes:
    plain = (
        b"\xfe\0top\0"
        + b"long " * 100
        + b"\0"
        + b"".join(b"\x10\0" + name + b"\0" + leb(1) + leb(0) for name in (b"a", b"b"))
        + b"\xff"
    )
    if form == "gzip":
        return block(4, pack(">Q", len(plain)) + gzip.compress(plain))
    once = pa.compress(plain, codec="lz4_raw", asbytes=True)
    return block(6, pack(">Q", len(plain)) + once)


def fst(path: Path, blocks: list[Changes], form: str = "gzip", packed: bool = False) -> Path:
    """Write a file with the signals top.a, with these changes in each block, and top.b, without changes."""
    begin, end = blocks[0][0][0], blocks[-1][-1][0]
    header = pack(">QQ", begin, end) + pack("<d", 2.718281828459045) + pack(">QQQQQ", 1 << 20, 1, 2, 2, len(blocks))
    header += pack("b", -12) + b"made up".ljust(128, b"\0") + bytes(119) + b"\0" + pack(">q", 0)
    path.write_bytes(
        block(0, header)
        + b"".join(values(changes, packed) for changes in blocks)
        + block(3, pack(">QQ", 2, 2) + leb(1) * 2)
        + declarations(form)
    )
    return path


TWO_BLOCKS = [[(time, time // 10 % 2) for time in range(first, first + 1000, 10)] for first in (0, 1000)]


def read(path: Path) -> dict[str, list[tuple[int, object]]]:
    return {str(var.full_name): list(var.signal) for var in pywellen.Waveform(str(path)).all_vars()}


@pytest.mark.parametrize("form", ["gzip", "lz4"])
@pytest.mark.parametrize("packed", [False, True])
def test_texts_of_several_scopes_are_read_beside_the_unchanged_signals(tmp_path: Path, form: str, packed: bool) -> None:
    path = fst(tmp_path / "a.fst", TWO_BLOCKS, form, packed)
    before = read(path)
    assert before["top.a"][:3] == [(0, 0), (10, 1), (20, 0)] and len(before["top.a"]) == 200
    texts = [
        Text(("paris", "cpu"), "path", [(10, "send"), (40, ""), (1990, "a long text " * 40)]),
        Text(("paris", "cpu"), "call", []),
        Text(("paris", "nic"), "path", [(1000, "greater"), (1010, "")]),
        Text(("metz",), "path", [(0, "at once")]),
    ]
    assert add_texts(path, texts) == 0
    after = read(path)
    assert {name: after.pop(name) for name in before} == before
    assert after == {
        "paris.cpu.path": [(0, ""), (10, "send"), (40, ""), (1990, "a long text " * 40)],
        "paris.cpu.call": [(0, "")],
        "paris.nic.path": [(0, ""), (1000, "greater"), (1010, "")],
        "metz.path": [(0, "at once")],
    }


def test_texts_can_be_added_twice(tmp_path: Path) -> None:
    path = fst(tmp_path / "a.fst", TWO_BLOCKS)
    for name in ("one", "two"):
        add_texts(path, [Text(("x",), name, [(20, name)])])
    assert read(path)["x.one"] == [(0, ""), (20, "one")] and read(path)["x.two"] == [(0, ""), (20, "two")]


def test_a_change_before_the_window_or_between_its_times_is_at_the_nearest_time(tmp_path: Path) -> None:
    path = fst(tmp_path / "a.fst", [[(time + 500, time // 10 % 2) for time in range(0, 100, 10)]])
    assert times_of(path).tolist() == list(range(500, 600, 10))
    changes = [(3, "early"), (499, "before"), (511, "moved back"), (529, "moved on"), (550, ""), (591, "late")]
    assert add_texts(path, [Text(("x",), "y", changes)]) == 2
    assert read(path)["x.y"] == [(500, "before"), (510, "moved back"), (530, "moved on"), (550, "")]


def test_equal_texts_in_succession_are_one_change(tmp_path: Path) -> None:
    path = fst(tmp_path / "a.fst", TWO_BLOCKS)
    add_texts(path, [Text(("x",), "y", [(20, "a"), (30, "a"), (1100, "a"), (1110, "b")])])
    assert read(path)["x.y"] == [(0, ""), (20, "a"), (1110, "b")]


def test_a_block_of_another_type_is_rejected_and_the_file_stays(tmp_path: Path) -> None:
    path = fst(tmp_path / "a.fst", TWO_BLOCKS)
    path.write_bytes(path.read_bytes() + block(254, b"packed"))
    before = path.read_bytes()
    with pytest.raises(SanlabError, match="FST block of type 254; record the waves"):
        add_texts(path, [Text(("x",), "y", [])])
    assert path.read_bytes() == before


def test_a_file_without_changes_gets_the_declarations(tmp_path: Path) -> None:
    path = fst(tmp_path / "a.fst", TWO_BLOCKS)
    data = path.read_bytes()
    sizes = [len(values(changes, packed=False)) for changes in TWO_BLOCKS]
    path.write_bytes(data[:330] + data[330 + sum(sizes) :])
    assert add_texts(path, [Text(("x",), "y", [(20, "a")])]) == 0
    assert "x.y" in [str(var.full_name) for var in pywellen.Waveform(str(path)).all_vars()]


def test_a_cut_file_is_rejected(tmp_path: Path) -> None:
    path = fst(tmp_path / "a.fst", TWO_BLOCKS)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(SanlabError, match="the file is cut off; record the waves again"):
        add_texts(path, [Text(("x",), "y", [])])
