"""What tools show of TreadMarks: the kinds of its messages, by which its dissector names them."""

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
