"""Text signals added to a complete FST file.

An FST file is a sequence of blocks: a header, the declarations (hierarchy and widths), and blocks of value changes. In
the latter each signal has a chain of changes, and a change names its time by its place in the block's list of times.
Chains of further signals are appended to those of each block; all other bytes stay as they are. So a change can only be
at a time at which the file has another change.

The format is defined by its first writer, GTKWave's fstapi.c. Files of our own writer (`fst_changes.hpp`) and of Icarus
have blocks of value changes of one type, VALUES.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import pack, unpack_from

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import SanlabError
from pymodels.results import write_atomically

HEADER, BLACKOUT, WIDTHS, GZIP, LZ4, VALUES = 0, 2, 3, 4, 6, 8
"""Types of blocks: header, pauses, widths, two forms of the hierarchy, and values."""
SCOPES, VARIABLES, SIGNALS = 41, 49, 57
"""Places of counters in the header."""
BEGIN_SCOPE, END_SCOPE, MODULE, STRING = 254, 255, 0, 21
NO_WIDTH = 0xFFFFFFFF
"""Width of a text."""
MEMORY, VALUES_HEAD = 25, 33
"""Place of the unpacked size in a block of values, and size of the fields before the initial values."""


Data = bytes | memoryview


@dataclass(frozen=True)
class Text:
    """Text signal in ASCII; empty before its first change."""

    scopes: tuple[str, ...]
    """Names of the scopes, the outermost first."""
    name: str
    changes: Sequence[tuple[int, str]]
    """Times in units of the file, ascending, and new texts."""


def add_texts(path: Path, texts: Sequence[Text]) -> int:
    """Add text signals to an FST file atomically, and return the number of changes whose time the file lacks.

    A change before the first time of the file is at the first time. A change at a time that is not in the file is at
    the nearest one. A change after the last time is left out.

    Args:
        path: Complete FST file.
        texts: Signals; those of one scope follow one another.

    Raises:
        SanlabError: The file is cut off, or has a block of another type.
        ResultsError: The file cannot be written.
    """
    data = memoryview(path.read_bytes())
    blocks = list(_blocks(data))
    times = [_times(data[at:end]) for kind, at, end in blocks if kind == VALUES]
    starts = np.array([some[0] for some in times], np.int64)
    placed, moved = _placed(texts, times, starts)
    parts: list[Data] = []
    number = 0
    for kind, at, end in blocks:
        block = data[at:end]
        if kind == VALUES:
            parts += _with_chains(block, [_chain(changes[number]) for changes in placed])
            number += 1
        elif kind == WIDTHS:
            parts += _with_widths(block, len(texts))
        elif kind in (GZIP, LZ4):
            parts += _with_declarations(block, texts)
        elif kind == HEADER:
            parts.append(_with_counts(block, texts))
        elif kind == BLACKOUT:
            parts.append(block)
        else:
            raise SanlabError(f"{path}", f"FST block of type {kind}", "record the waves with this version's simulators")
    write_atomically(path, parts, durable=False)
    return moved


def times_of(path: Path) -> NDArray[np.int64]:
    """Return the times at which an FST file has changes, ascending, shape (n,)."""
    data = memoryview(path.read_bytes())
    return np.concatenate([_times(data[at:end]) for kind, at, end in _blocks(data) if kind == VALUES])


def _blocks(data: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield type, begin and end of each block."""
    at = 0
    while at < len(data):
        end = at + 1 + int(unpack_from(">Q", data, at + 1)[0]) if at + 9 <= len(data) else len(data) + 1
        if end > len(data):
            raise SanlabError("waves.fst", "the file is cut off", "record the waves again")
        yield data[at], at, end
        at = end


Placed = list[list[list[tuple[int, bytes]]]]
"""Changes by signal and block: place in the block's list of times, and text."""


def _placed(texts: Sequence[Text], times: list[NDArray[np.int64]], starts: NDArray[np.int64]) -> tuple[Placed, int]:
    """Return the changes of each signal in each block, and the number of times that the file lacks."""
    placed: Placed = []
    moved = 0
    if not times:  # a window without any edge
        return [[] for _ in texts], 0
    every = np.concatenate(times)
    firsts = np.cumsum([0, *(len(some) for some in times)])
    for text in texts:
        at = np.array([time for time, _ in text.changes], np.int64)
        places = np.searchsorted(every, at)
        later, earlier = every[np.minimum(places, len(every) - 1)], every[np.maximum(places - 1, 0)]
        places -= (at < later) & (places > 0) & (at - earlier <= later - at)
        moved += int(np.count_nonzero((at != later) & (every[0] < at) & (at < every[-1])))
        last: dict[int, str] = {0: ""}
        last.update(
            (int(place), change[1]) for place, change in zip(places, text.changes, strict=True) if place < len(every)
        )
        in_blocks: list[list[tuple[int, bytes]]] = [[] for _ in starts]
        before = None
        for place, value in last.items():
            if value != before:
                block = int(np.searchsorted(firsts, place, side="right")) - 1
                in_blocks[block].append((place - int(firsts[block]), value.encode("ascii", "replace")))
                before = value
        placed.append(in_blocks)
    return placed, moved


def _chain(changes: list[tuple[int, bytes]]) -> bytes:
    """Return the chain of a text signal: steps of time, length and text of each change."""
    parts, last = [], 0
    for place, text in changes:
        parts += [_leb(place - last << 1), _leb(len(text)), text]
        last = place
    return b"".join(parts)


def _with_chains(block: memoryview, chains: list[bytes]) -> list[Data]:
    """Return a block of values with further chains, not packed."""
    _, at = _read_leb(block, VALUES_HEAD)
    packed, at = _read_leb(block, at)
    _, at = _read_leb(block, at)
    at += packed
    signals, data = _read_leb(block, at)
    tail = len(block) - 24 - int(unpack_from(">Q", block, len(block) - 16)[0])
    index = tail - 8 - int(unpack_from(">Q", block, tail - 8)[0])
    last, here = _last_place(block[index : tail - 8]), index - data
    places, added = [], []
    for chain in chains:
        if not chain:
            places.append(_leb(1 << 1))
            continue
        places.append(_signed_leb((here - last) * 2 + 1))
        added.append(b"\0" + chain)
        last, here = here, here + 1 + len(chain)
    entries = b"".join((block[index : tail - 8], *places))
    memory = int(unpack_from(">Q", block, MEMORY)[0]) + sum(map(len, chains))
    signals += len(chains)
    head = (block[9:MEMORY], pack(">Q", memory), block[VALUES_HEAD:at], _leb(signals), block[data:index])
    return _sized(VALUES, *head, *added, entries, pack(">Q", len(entries)), block[tail:])


def _last_place(entries: memoryview) -> int:
    """Return the place of the last chain of a block."""
    at = place = 0
    while at < len(entries):
        if entries[at] & 1:
            value, at = _read_signed_leb(entries, at)
            place += max(value >> 1, 0)
        else:
            _, at = _read_leb(entries, at)
    return place


def _times(block: memoryview) -> NDArray[np.int64]:
    """Return the times of a block of values."""
    unpacked, packed, count = unpack_from(">QQQ", block, len(block) - 24)
    steps = block[len(block) - 24 - packed : len(block) - 24]
    octets = np.frombuffer(zlib.decompress(steps) if packed != unpacked else steps, np.uint8)
    ends = np.flatnonzero(octets < 0x80)
    begins = np.concatenate(([0], ends[:-1] + 1))
    shifts = 7 * (np.arange(len(octets)) - np.repeat(begins, ends - begins + 1))
    times = np.cumsum(np.add.reduceat((octets & 0x7F).astype(np.int64) << shifts, begins), dtype=np.int64)
    if len(times) != count:
        raise SanlabError("waves.fst", f"{len(times)} times in a block, {count} expected", "record the waves again")
    return times


def _with_widths(block: memoryview, count: int) -> list[Data]:
    """Return the block of widths with further texts."""
    unpacked, signals = unpack_from(">QQ", block, 9)
    widths = bytes(block[25:]) if len(block) - 25 == unpacked else zlib.decompress(block[25:])
    widths += _leb(NO_WIDTH) * count
    return _sized(WIDTHS, pack(">QQ", len(widths), signals + count), _packed(widths))


def _packed(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return packed if len(packed) < len(data) else data


def _with_declarations(block: memoryview, texts: Sequence[Text]) -> list[Data]:
    """Return the hierarchy with the declarations of texts at its end, in gzip."""
    declared = gzip.decompress(block[17:]) if block[0] == GZIP else _unpacked_lz4(block[17:])
    declared += b"".join(_declarations(texts))
    return _sized(GZIP, pack(">Q", len(declared)), gzip.compress(declared, mtime=0))


def _unpacked_lz4(data: memoryview) -> bytes:
    """Return the content of a raw LZ4 block."""
    found, at = bytearray(), 0

    def length(short: int) -> int:
        nonlocal at
        total, octet = short, 255
        while short == 15 and octet == 255:
            octet, at = data[at], at + 1
            total += octet
        return total

    while True:
        token, at = data[at], at + 1
        literals = length(token >> 4)
        found += data[at : at + literals]
        at += literals
        if at == len(data):
            return bytes(found)
        distance, at = data[at] | data[at + 1] << 8, at + 2
        size = length(token & 15) + 4
        repeated = bytes(found[-distance:])
        found += (repeated * (size // distance + 1))[:size]


def _declarations(texts: Sequence[Text]) -> Iterator[bytes]:
    inside: tuple[str, ...] = ()
    for text in [*texts, Text((), "", ())]:
        same = next((i for i, (a, b) in enumerate(zip(inside, text.scopes, strict=False)) if a != b), None)
        shared = min(len(inside), len(text.scopes)) if same is None else same
        yield bytes([END_SCOPE]) * (len(inside) - shared)
        for scope in text.scopes[shared:]:
            yield bytes([BEGIN_SCOPE, MODULE]) + scope.encode() + b"\0\0"
        inside = text.scopes
        if text.name:
            yield bytes([STRING, 0]) + text.name.encode() + b"\0" + _leb(0) + _leb(0)


def _with_counts(block: memoryview, texts: Sequence[Text]) -> bytes:
    """Return the header with the new numbers of scopes, variables and signals."""
    counts = bytearray(block)
    scopes = sum(part.count(bytes([BEGIN_SCOPE, MODULE])) for part in _declarations(texts))
    for at, more in ((SCOPES, scopes), (VARIABLES, len(texts)), (SIGNALS, len(texts))):
        counts[at : at + 8] = pack(">Q", int(unpack_from(">Q", block, at)[0]) + more)
    return bytes(counts)


def _sized(kind: int, *content: Data) -> list[Data]:
    """Return the parts of a block."""
    return [pack(">BQ", kind, sum(map(len, content)) + 8), *content]


def _leb(value: int) -> bytes:
    parts = bytearray()
    while value >> 7:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _signed_leb(value: int) -> bytes:
    parts = bytearray()
    while value >> 6 not in (0, -1):
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value & 0x7F)
    return bytes(parts)


def _read_leb(data: memoryview, at: int) -> tuple[int, int]:
    """Return an unsigned number and the place behind it."""
    value = shift = 0
    while True:
        octet = data[at]
        value |= (octet & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if octet < 0x80:
            return value, at


def _read_signed_leb(data: memoryview, at: int) -> tuple[int, int]:
    """Return a signed number and the place behind it."""
    begin = at
    value, at = _read_leb(data, at)
    bits = 7 * (at - begin)
    return value - (1 << bits) if data[at - 1] & 0x40 else value, at
