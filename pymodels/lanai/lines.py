"""Source lines of addresses, from `.debug_line` as clang writes it with `-gline-tables-only -gdwarf-4`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pymodels.lanai.dwarf import VERSION, Reader
from pymodels.lanai.elf import LinkError
from pymodels.lanai.program import Line


@dataclass
class _Header:
    """Parameters of a unit's line number program."""

    step: int
    line_base: int
    line_range: int
    opcode_base: int
    operands: list[int]
    files: list[str]


def lines_of(data: bytes) -> Iterator[Line]:
    """Yield the line entries of a relocated section. Raises LinkError for an unsupported version."""
    reader = Reader(data)
    while reader.at < len(data):
        length = reader.number(4)
        end = reader.at + length
        header = _header(reader)
        yield from _run(reader, header, end)
        reader.at = end


def files_of(data: bytes, at: int) -> list[str]:
    """Return the file names of the unit whose line table begins at `at`; index 0 is unused."""
    return _header(Reader(data, at + 4)).files


def _header(reader: Reader) -> _Header:
    version = reader.number(2)
    if version != VERSION:
        raise LinkError(".debug_line", f"version {version}", f"compile with -gdwarf-{VERSION}")
    length = reader.number(4)
    program = reader.at + length
    step, _, _ = reader.number(1), reader.number(1), reader.number(1)  # also: operations a word, is_stmt
    line_base, line_range, opcode_base = reader.signed_byte(), reader.number(1), reader.number(1)
    operands = [0, *(reader.number(1) for _ in range(opcode_base - 1))]
    folders, files = ["", *reader.texts()], [""]
    while name := reader.text():
        folder = folders[reader.leb()]
        reader.leb(), reader.leb()  # time, length
        files.append(f"{folder}/{name}" if folder and not name.startswith("/") else name)
    reader.at = program
    return _Header(step, line_base, line_range, opcode_base, operands, files)


@dataclass
class _State:
    address: int = 0
    file: int = 1
    line: int = 1


def _run(reader: Reader, header: _Header, end: int) -> Iterator[Line]:
    """Execute the line number program of a unit."""
    state = _State()
    while reader.at < end:
        opcode = reader.number(1)
        if opcode >= header.opcode_base:
            opcode -= header.opcode_base
            state.address += header.step * (opcode // header.line_range)
            state.line += header.line_base + opcode % header.line_range
            yield _row(header, state)
        elif opcode == 0:
            yield from _extended(reader, header, state)
        elif opcode == 1:
            yield _row(header, state)
        else:
            _standard(reader, header, state, opcode)


def _row(header: _Header, state: _State) -> Line:
    return Line(state.address, header.files[state.file] if state.line else "", state.line)


def _extended(reader: Reader, header: _Header, state: _State) -> Iterator[Line]:
    length = reader.leb()
    end = reader.at + length
    what = reader.number(1)
    if what == 1:  # end of a sequence
        yield Line(state.address, "", 0)
        state.address, state.file, state.line = 0, 1, 1
    elif what == 2:
        state.address = reader.number(length - 1)
    reader.at = end


def _standard(reader: Reader, header: _Header, state: _State, opcode: int) -> None:
    if opcode == 2:
        state.address += header.step * reader.leb()
    elif opcode == 3:
        state.line += reader.signed_leb()
    elif opcode == 4:
        state.file = reader.leb()
    elif opcode == 8:
        state.address += header.step * ((255 - header.opcode_base) // header.line_range)
    elif opcode == 9:
        state.address += reader.number(2)
    else:  # opcodes for columns and flags
        for _ in range(header.operands[opcode]):
            reader.leb()
