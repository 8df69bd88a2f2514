"""GRIM's wire format.

Strategy: every field is packed and unpacked with random values. A few words are written by hand from Figure 4.2 and
readings B1, so that an error in both directions is detected. Counters are compared over their whole range. Errors of
values that do not fit name the field.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.grim import formats as grim

U8, U16, U32 = st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
HEADERS = st.builds(
    grim.Header,
    token=U8,
    sequence=U8,
    type=st.integers(0, 63),
    correction=st.integers(0, 3),
    tree=U8,
    source=U16,
    words=U16,
    destination=U16,
    channel=U16,
    handler=U16,
    arguments=st.tuples(U32, U32, U32, U32),
)


def test_header_words_are_at_the_positions_of_the_figure() -> None:
    header = grim.Header(0x12, 0x34, 0x15, 2, 0x56, 0x789A, 0xBCDE, 0xF012, 0x3456, 0x789B, (1, 2, 3, -1))
    assert header.pack().hex(" ", 4) == "06361234 5656789a bcdef012 3456789b 00000001 00000002 00000003 ffffffff"


def test_first_byte_ends_the_route() -> None:
    assert grim.key(255, 255).to_bytes(4, "big")[0] & 0x80 == 0


@given(HEADERS)
def test_header_survives_pack_and_unpack(header: grim.Header) -> None:
    assert grim.unpack(header.pack()) == header


@pytest.mark.parametrize("field", grim.Header._fields[:-1])
def test_value_too_large_names_its_field(field: str) -> None:
    least = 1 << {"type": 6, "correction": 2, "token": 8, "sequence": 8, "tree": 8}.get(field, 16)
    header = grim.Header(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (0, 0, 0, 0))
    header = grim.Header._make(least if name == field else value for name, value in header._asdict().items())
    with pytest.raises(ValueError, match=f"^{field} {least} does not fit into"):
        header.pack()


def test_other_packets_are_not_recognised_as_grim() -> None:
    with pytest.raises(ValueError, match="^GRIM id is 0x0008, not 0x0636$"):
        grim.unpack(bytes.fromhex("00080000") + bytes(28))
    with pytest.raises(ValueError, match="^GRIM header: 31 bytes, but a header has 32$"):
        grim.unpack(bytes(31))


def test_control_message_has_the_key_of_its_message_and_the_answering_ni() -> None:
    words = grim.control(grim.MessageType.NACK, 7, 200, 3)
    assert grim.CONTROL.pack(*words).hex(" ", 4) == "063607c8 c4000301"


@pytest.mark.parametrize(("words", "size"), [(0, 0), (1, 8), (2, 8), (3, 16), (16143, 64_576)])
def test_odd_word_counts_are_padded_to_eight_bytes(words: int, size: int) -> None:
    assert grim.padded(words) == size


@given(U8, st.integers(-128, 127))
def test_distance_is_correct_for_all_wrapped_values(expected: int, ahead: int) -> None:
    assert grim.distance(expected + ahead & 0xFF, expected) == ahead


@given(st.integers(0, grim.MAX_VNN), st.integers(0, 3), U16)
def test_reference_survives_pack_and_unpack(vnn: int, device: int, channel: int) -> None:
    assert grim.reference(grim.Reference(vnn, device, channel).pack()) == (vnn, device, channel)


def test_reference_rejects_a_vnn_above_1023() -> None:
    with pytest.raises(ValueError, match="^vnn 1024 is not in 0..1023$"):
        grim.Reference(1024, 0, 0).pack()


@given(st.integers(0, grim.MAX_VNN), st.integers(0, 3), st.integers(0, 15))
def test_vnn_is_decoded_for_every_device_and_connection_tag(vnn: int, device: int, tag: int) -> None:
    end = grim.endpoint(vnn, device)
    assert grim.vnn_of(end) == grim.Words(0, end | tag << grim.TAG_SHIFT).source == grim.Words(0, 0, end).target == vnn
    assert grim.Words(*grim.control(grim.MessageType.ACK, 1, 2, vnn)).source == vnn
    assert grim.Reference(vnn, device, 5).pack() >> 16 == end
    assert end == vnn << 8 | device if vnn < 256 else end & 0xF0 == 0


def test_payload_bytes_are_words_less_the_correction() -> None:
    assert grim.Header(0, 0, 1, 3, 0, 0, 2, 0, 0, 0, (0, 0, 0, 0)).bytes == 5


@given(HEADERS)
def test_host_and_ni_decode_the_same_header_fields(header: grim.Header) -> None:
    packed = header.pack()
    w0, kind, tree, vnn, device, words, destination, source, channel, handler, *arguments = grim.ARRIVED.unpack(packed)
    said = grim.Words(*grim.HEADER.unpack(packed)[:4])
    assert (w0, kind >> grim.KIND_SHIFT, tree) == (said.w0, said.type, said.tree)
    assert grim.vnn_of(vnn << 8 | device) == said.source
    assert (words, destination, source, channel) == (said.words, said.destination, said.source_channel, said.channel)
    assert 4 * words - (kind & 3) == said.bytes and device == header.source & 0xFF and handler == said.handler
    assert tuple(argument & 0xFFFFFFFF for argument in arguments) == header.arguments
    assert int.from_bytes(packed[grim.WORDS_AT : grim.WORDS_AT + 2], "big") == words


def test_report_of_a_later_piece_names_the_start_of_its_transfer() -> None:
    for kind, target in ((grim.MessageType.RM_V, 0x0FF0), (grim.MessageType.ACK, 0x1000)):
        assert grim.Report(kind << 26 | grim.CONTINUES, 0, 0x1000, 0x10).target == target
        assert grim.Report(kind << 26, 0, 0x1000, 0x10).target == 0x1000
