"""Whether a packet that a LANai has received has whole words, as all packets are sent.

The syndrome of CRC-8 stands behind the last byte of data. Firmware looks for it in the first byte of the last word,
where it is when data end with a word. A cable that loses or adds characters moves it, and where it was looked for is
data.
"""

from __future__ import annotations

from pymodels.registers import Isr


def has_whole_words(flags: int, word_bytes: int) -> bool:
    """Whether ORUN of the packet received last says so. `flags`: ISR, read before the receive engine is armed again."""
    unused = word_bytes - 1
    return flags >> Isr.ORUN1 & unused == unused
