"""Images of FPGA cards: their format, and the reference model of the configuration port.

Strategy: packed images are read back by hand from the table on the page of the module. Each bit of the header, drawn
bits of the frames and drawn lengths are damaged, and the model must find it; the last word decides between old circuits
and empty slots. Headers with invalid fields are packed with a right CRC-32.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.card import fabric, image
from pymodels.card.fabric import EXAMPLE, Circuit, identity
from pymodels.card.image import HEADER, Verdict, build, file_name, judge, main
from pymodels.card.registers import IMAGE_MAGIC, IMAGE_PART, IMAGE_VERSION, SLOTS, WHOLE_DEVICE, Load

SIZE = 64
WHOLE, PARTIAL = build(EXAMPLE, "digests.bit", None, SIZE), build(EXAMPLE, "digests.bit", 2, SIZE)
ALL = frozenset(range(SLOTS))


@pytest.mark.parametrize(("made", "slot"), [(WHOLE, WHOLE_DEVICE), (PARTIAL, 2)])
def test_an_image_has_its_words_at_their_places(made: image.Image, slot: int) -> None:
    data = made.pack()
    words = struct.unpack(f">{len(data) // 4}I", data)
    kind = IMAGE_VERSION << 24 | IMAGE_PART << 16 | slot << 8 | 2
    assert words[:4] == (IMAGE_MAGIC, kind, identity(EXAMPLE), SIZE)
    assert words[4] == zlib.crc32(data[:16])
    assert words[-1] == zlib.crc32(data[20:-4])
    assert len(data) == 20 + SIZE + 4


def test_frames_follow_from_the_circuits_and_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build(EXAMPLE, "digests.bit", 2, SIZE).frames == PARTIAL.frames
    assert build(EXAMPLE, "digests.bit", 1, SIZE).frames != PARTIAL.frames
    assert len(build(EXAMPLE, "digests.bit", 0, 61).frames) == 64, "rounded up to 8"
    (tmp_path / "hdl").mkdir()
    monkeypatch.setattr("pymodels.roots.roots", lambda: (tmp_path,))
    found = set()
    for text in ("module x;", "module y;"):
        (tmp_path / "hdl" / "myri_circuit_mine.sv").write_text(text, encoding="utf-8")
        image._frames.cache_clear()
        found.add(build((Circuit("a", 0, "mine"),), "a", 0, SIZE).frames)
    image._frames.cache_clear()
    assert len(found) == 2


def test_a_circuit_in_python_is_part_of_the_identity_and_of_the_frames() -> None:
    other = tuple(replace(one, python=f"pymodels.card.prototypes:{one.name}") for one in EXAMPLE)
    assert identity(other) != identity(EXAMPLE)
    assert build(other, "digests.bit", 0, SIZE).frames != build(EXAMPLE, "digests.bit", 0, SIZE).frames
    assert f"identity = 32'h{identity(EXAMPLE):08X};" in fabric.module_text(EXAMPLE)


def test_good_images_are_loaded_into_their_slots() -> None:
    assert judge(WHOLE.pack(), EXAMPLE, False) == Verdict(Load.DONE, ALL, ALL, 2, 88)
    assert judge(PARTIAL.pack(), EXAMPLE, True) == Verdict(Load.DONE, frozenset({2}), frozenset({2}), 2, 88)
    assert judge(PARTIAL.pack() + b"tail", EXAMPLE, True).outcome == Load.DONE


@pytest.mark.parametrize("bit", range(8 * HEADER.size))
def test_each_flipped_bit_of_the_header_leaves_all_slots_as_they_are(bit: int) -> None:
    verdict = judge(flipped(PARTIAL.pack(), bit), EXAMPLE, True)
    expected = Load.NO_IMAGE if bit < 32 else Load.DAMAGED_HEADER
    assert (verdict.outcome, verdict.emptied) == (expected, frozenset())


@given(bit=st.integers(8 * HEADER.size, 8 * (HEADER.size + SIZE + 4) - 1))
def test_a_flipped_bit_of_the_frames_leaves_the_slot_empty(bit: int) -> None:
    verdict = judge(flipped(PARTIAL.pack(), bit), EXAMPLE, True)
    assert (verdict.outcome, verdict.emptied, verdict.loaded) == (Load.DAMAGED, frozenset({2}), frozenset())


@given(words=st.integers(0, (HEADER.size + SIZE) // 4))
def test_a_truncated_image_empties_its_slot_once_its_header_is_complete(words: int) -> None:
    verdict = judge(WHOLE.pack()[: 4 * words], EXAMPLE, True)
    assert verdict.outcome == Load.TRUNCATED
    assert verdict.emptied == (ALL if words >= 5 else frozenset())
    assert verdict.taken == 4 * words


@pytest.mark.parametrize(
    ("wrong", "outcome"),
    [
        (replace(PARTIAL, version=IMAGE_VERSION + 1), Load.OTHER_CARD),
        (replace(PARTIAL, part=0), Load.OTHER_CARD),
        (replace(PARTIAL, identity=0), Load.OTHER_CIRCUITS),
        (replace(PARTIAL, number=0), Load.NO_PLACE),
        (replace(PARTIAL, number=3), Load.NO_PLACE),
        (replace(PARTIAL, slot=SLOTS), Load.NO_PLACE),
        (replace(PARTIAL, frames=b""), Load.NO_PLACE),
        (replace(PARTIAL, frames=b"12345"), Load.NO_PLACE),
        (replace(PARTIAL, magic=1), Load.NO_IMAGE),
    ],
)
def test_an_image_for_something_else_is_rejected_with_its_outcome(wrong: image.Image, outcome: Load) -> None:
    verdict = judge(wrong.pack(), EXAMPLE, True)
    assert (verdict.outcome, verdict.emptied) == (outcome, frozenset())


def test_a_partial_image_needs_the_shell() -> None:
    assert judge(PARTIAL.pack(), EXAMPLE, False).outcome == Load.NO_SHELL


def test_the_command_line_writes_the_images_of_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    names = {file_name(one.image, slot) for one in EXAMPLE for slot in (None, one.slot)}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert {Path(line).name for line in capsys.readouterr().out.split()} == names
    for path in tmp_path.iterdir():
        assert judge(path.read_bytes(), EXAMPLE, True).outcome == Load.DONE
    assert main([]) == 2


def flipped(data: bytes, bit: int) -> bytes:
    """Return data with one bit changed, bit 0 the highest of the first byte."""
    number = int.from_bytes(data, "big") ^ 1 << 8 * len(data) - 1 - bit
    return number.to_bytes(len(data), "big")
