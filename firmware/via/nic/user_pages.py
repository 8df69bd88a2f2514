"""NIC memory that processes write themselves: doorbells and queue caches, in pages of their own (paper 001, 2.2.1 and
2.4).

Both NIC and host import this file. `user_descriptors.py` defines the contents of the queue caches.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from firmware.via.options import Options
from pymodels.codes import quick

PAGE = 4096


@quick
class Pair(IntEnum):
    """Byte offsets of a VI's doorbells and of the NIC's positions [writer].

    They are in the page of the VI, or in a page with those of all VIs of the process.
    """

    SEND_TAIL = 0
    """Tail of the send queue cache [process]."""
    RECEIVE_TAIL = 4
    """Tail of the receive queue cache [process]."""
    SEND_HEAD = 8
    """Head of the send queue cache [NIC]."""
    RECEIVE_HEAD = 12
    """Head of the receive queue cache [NIC]."""
    BYTES = 16


class Queues(NamedTuple):
    """Offset and size in words of a VI's queue caches in the page of its process."""

    sends: tuple[int, int]
    receives: tuple[int, int]


def queues_of(options: Options) -> Queues:
    """Return the queue caches of a VI.

    They hold 256 descriptors as pointers, or some twenty written descriptors. With a doorbell of one word the send
    queue is smaller, because one descriptor is posted at a time.
    """
    if options.pages == "vi":
        return Queues((0x400, 256), (0x800, 512))
    return Queues((0, 512), (0x800, 512))


BELL_SEND, BELL_RECEIVE = 0, 4
"""Offsets of the two doorbells in a VI's page of the doorbell region."""
POINTER, NEW_HANDLE, HANDLE_SHIFT, HANDLES = 1, 2, 2, 16
"""Fields of a pointer word in a user's queue cache.

POINTER: the descriptor at this address is to be fetched. NEW_HANDLE: the next word is the memory handle. HANDLE_SHIFT
and HANDLES: position and range of the number that names the handle from then on.
"""
IN_PLACE = 0x8000
"""Flag beside a descriptor's control bits in a queue cache: the message's bytes replace the data segments (not from the
paper).
"""
