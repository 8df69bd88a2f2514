"""Message kinds of TreadMarks for its dissector."""

from collections.abc import Mapping
from enum import IntEnum

from firmware.shown import Shown
from firmware.tmk.host.over_udp import REQUESTS_PORT, RESPONSES_PORT
from firmware.tmk.host.wire import RESPONSES, Kind

NUMBERS: Mapping[str, int | type[IntEnum]] = {
    "KIND": Kind,
    "RESPONSES": int(RESPONSES),
    "REQUESTS_PORT": REQUESTS_PORT,
    "RESPONSES_PORT": RESPONSES_PORT,
}
SHOWN = Shown(numbers=NUMBERS)
