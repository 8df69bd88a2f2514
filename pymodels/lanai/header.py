"""Generator of the C header `lanai.h` with the special registers of a kind of NIC."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import IntEnum

from pymodels.lanai.chips import Chip


@dataclass(frozen=True)
class NicCore:
    """Processor of a kind of NIC as seen by C firmware."""

    title: str
    chip: Chip
    source: str
    """Python module that defines the registers."""
    registers: type[IntEnum]
    bits: type[IntEnum]
    """Bit numbers of ISR."""
    limits: Collection[int] = ()
    """Limit registers that hold the address of the last word, where firmware uses the address after it."""
    word_bytes: int = 8
    """Bytes of an SRAM word."""

    def header(self) -> str:
        """Return the text of `lanai.h`."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"/* Special registers of {self.title}, by negative addresses: one instruction reaches each."
        yield f" * Generated from {self.source} by `python -m firmware.build --headers`; do not edit. */"
        yield "#ifndef SANLAB_LANAI_H"
        yield "#define SANLAB_LANAI_H"
        yield ""
        yield f"#define SRAM_WORD {self.word_bytes}"
        yield ""
        for one in self.registers:
            yield f"#define REGISTER_{one.name} (-{(1 << self.chip.register_bits) - one:#05x})"
        yield ""
        yield "/* What to write for what firmware means: a limit names the last word. */"
        for one in self.registers:
            yield f"#define WRITTEN_{one.name}(value) ({'(value) - SRAM_WORD' if one in self.limits else 'value'})"
        yield ""
        yield "/* Bits of ISR. */"
        yield "enum {"
        for one in self.bits:
            yield f"    ISR_BIT_{one.name} = {one.value},"
        yield "};"
        yield ""
        yield "#endif"
