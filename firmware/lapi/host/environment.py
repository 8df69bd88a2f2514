"""Environment of a context, read by `Qenv` and set by `Senv`; its initial values are the layer's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from firmware.lapi.host.calls import Query
from firmware.lapi.host.errors import Misuse
from firmware.lapi.host.header import MOST
from firmware.lapi.options import Options

MOST_DATA = (1 << 31) - 1
"""Largest message in bytes."""
SET: Mapping[Query, str] = MappingProxyType(
    {
        Query.ERROR_CHK: "error_chk",
        Query.TIMEOUT: "timeout_us",
        Query.INTERRUPT_SET: "interrupt_set",
        Query.ACK_PACKETS: "ack_packets",
    }
)


class Environment:
    """Environment of one context: its options, as changed by `Senv`, and fixed properties."""

    def __init__(self, options: Options) -> None:
        """Start with the options of the layer."""
        self.options = options

    def query(self, query: Query, task: int, tasks: int) -> int:
        """Return a property. Raises Misuse."""
        fixed = {
            Query.TASK_ID: task,
            Query.NUM_TASKS: tasks,
            Query.MAX_UHDR_SZ: MOST,
            Query.MAX_DATA_SZ: MOST_DATA,
        }
        if query in fixed:
            return fixed[query]
        if query not in SET:
            raise Misuse(f"query {query!r}", "unknown query", f"give one of {', '.join(Query.__members__)}")
        return int(getattr(self.options, SET[query]))

    def change(self, query: Query, value: int) -> None:
        """Set a property. Raises Misuse."""
        if query not in SET:
            raise Misuse(
                f"query {query!r}", "a read-only property", f"give one of {', '.join(one.name for one in SET)}"
            )
        name = SET[query]
        declared = Options.declared()[name]
        if declared.fault(name, value) is not None:
            cause = f"{query.name} is an integer in {declared.low}..{declared.high}"
            raise Misuse(f"val {value!r}", cause, "give an integer in this range")
        self.options = replace(self.options, **{name: value})
