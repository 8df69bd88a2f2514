"""What does an end-to-end limit of outstanding messages cost a sender, and how large a burst does a NI take without one?

Strategy: one host sends a burst of null messages to another, which sends each back. A reply is a credit: with a limit, a
library on top of GRIM lets so many messages be out and then blocks, polling, until a reply frees one (readings B12).
Without one only the room in the NI bounds a burst. Overhead is the time of the burst's calls over its length; the
marginal one, that of the calls between two lengths. The plateau is the marginal overhead of bursts that meet no bound;
a knee is the first burst whose marginal overhead is more than 1.5 plateaus. Since replies come while the burst is sent,
it lies beyond the bound: at bound / (1 - rho), rho being the rate at which the bound is relieved over that of the plateau.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from firmware.nic.grim.layout import ROUTE_BYTES
from pymodels.formats.grim import HEADER_BYTES
from tb.lab import Lab
from tb.studies import Option
from tb.studies._grim import bring_up

LAYER = "grim"
NULL = ROUTE_BYTES + HEADER_BYTES
"""Bytes of a null message in a queue."""
KNEE = 1.5
"""Plateaus."""
QUEUES = (8, 16, 32)
"""The three sizes of the sender's queue, in units of the option `queue`."""
OPTIONS = {
    "limits": Option(4, "limits of outstanding messages: 4, 8, 16, ...: so many of them", 1, 8),
    "queue": Option(1024, "bytes of the unit of the NI's queue: the law is tried on 8, 16 and 32 of them", 512, 65536),
    "burst": Option(256, "longest burst with a limit", 16, 65536),
}
