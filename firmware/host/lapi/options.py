"""What `Qenv` tells and `Senv` sets; the layer's options are what it begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.host.lapi.calls import Query
from firmware.host.lapi.errors import Misuse
from firmware.host.lapi.header import MOST
from firmware.options import check_values
from pymodels.errors import SanlabError

MOST_DATA = (1 << 31) - 1
"""Bytes of a message."""
RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"error_chk": (0, 1), "timeout_us": (50, 1_000_000), "interrupt_set": (0, 1), "ack_packets": (1, 30)}
)
SET: Mapping[Query, str] = MappingProxyType(
    {
        Query.ERROR_CHK: "error_chk",
        Query.TIMEOUT: "timeout_us",
        Query.INTERRUPT_SET: "interrupt_set",
        Query.ACK_PACKETS: "ack_packets",
    }
)


class OptionError(SanlabError):
    """An option that cannot be."""

    exit_code = 2


@dataclass
class Options:
    """Options of one context, with their defaults."""

    error_chk: int = 1
    """1: check the arguments of every call."""
    timeout_us: int = 1000
    """Time after which an unacknowledged packet is retransmitted."""
    interrupt_set: int = 0
    """1: interrupt mode; 0: polling mode."""
    ack_packets: int = 30
    """Number of received packets after which an acknowledgement is sent at the latest."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values, among which may be what the layer stands on. Raises OptionError."""
        own = {name: value for name, value in given.items() if name != "on"}
        check_values("LAPI", OptionError, own, RANGES)
        return cls(**own)  # type: ignore[arg-type]

    def query(self, query: Query, task: int, tasks: int) -> int:
        """A property. Raises Misuse."""
        fixed = {
            Query.TASK_ID: task,
            Query.NUM_TASKS: tasks,
            Query.MAX_UHDR_SZ: MOST,
            Query.MAX_DATA_SZ: MOST_DATA,
        }
        if query in fixed:
            return fixed[query]
        if query not in SET:
            raise Misuse(f"query {query!r}", "there is no such", f"give one of {', '.join(Query.__members__)}")
        return int(getattr(self, SET[query]))

    def change(self, query: Query, value: int) -> None:
        """Set one. Raises Misuse."""
        if query not in SET:
            raise Misuse(f"query {query!r}", "it cannot be set", f"give one of {', '.join(one.name for one in SET)}")
        name = SET[query]
        least, most = RANGES[name]
        if type(value) is not int or not least <= value <= most:
            raise Misuse(f"val {value!r}", f"{query.name} is a whole number in {least}..{most}", "give one")
        setattr(self, name, value)
