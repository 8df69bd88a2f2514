"""Check that a packet received by a LANai consists of whole words, as all sent packets do.

The syndrome of CRC-8 follows the last byte of data. Firmware reads it in the first byte of the last word, where it is
if the data end with a word. A cable that loses or adds characters moves it, and firmware would read data instead.
"""

from __future__ import annotations

from pymodels.registers import Isr


def has_whole_words(flags: int, word_bytes: int) -> bool:
    """Return True if ORUN of the last received packet indicates whole words.

    Args:
        flags: ISR, read before the receive engine is armed again.
        word_bytes: Bytes of an SRAM word.
    """
    unused = word_bytes - 1
    return flags >> Isr.ORUN1 & unused == unused
