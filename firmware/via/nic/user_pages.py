"""What processes write themselves in the NIC's memory: doorbells and queue caches, in pages of their own (paper 001,
2.2.1 and 2.4). Both sides read this file; what stands in a queue cache is told in `user_descriptors.py`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from firmware.via.options import Options
from pymodels.codes import quick

PAGE = 4096


@quick
class Pair(IntEnum):
    """The doorbells of a VI, and how far the NIC is: byte offsets [who writes]. They stand in the page of the VI, or in
    a page with all those of its process.
    """

    SEND_TAIL = 0
    """[process]"""
    RECEIVE_TAIL = 4
    """[process]"""
    SEND_HEAD = 8
    """[NIC]"""
    RECEIVE_HEAD = 12
    """[NIC]"""
    BYTES = 16


class Queues(NamedTuple):
    """The queue caches of a VI that its process may write, in a page of its own: offset and words of each."""

    sends: tuple[int, int]
    receives: tuple[int, int]


def queues_of(options: Options) -> Queues:
    """Room for 256 descriptors, of which some twenty are written; for fewer sends where one word is the doorbell, so
    that one is posted at a time.
    """
    if options.pages == "vi":
        return Queues((0x400, 256), (0x800, 512))
    return Queues((0, 512), (0x800, 512))


BELL_SEND, BELL_RECEIVE = 0, 4
"""Offsets in a VI's page of the doorbell region."""
POINTER, NEW_HANDLE, HANDLE_SHIFT, HANDLES = 1, 2, 2, 16
"""Bits of a word of a user's queue cache: the descriptor at this address is fetched; its handle is the next word; by
which of so many numbers the handle is known from then on.
"""
IN_PLACE = 0x8000
"""Beside a descriptor's control bits in a queue cache: the message's bytes stand in place of data segments (ours)."""
