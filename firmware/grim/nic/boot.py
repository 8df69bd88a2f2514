"""Interface to GRIM's firmware in C: its boot configuration, the options that it supports, and its waits for hang
reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from firmware.common.nic import route_row
from firmware.grim.channel_map import NO_CARD
from firmware.grim.nic.cards import card_channel
from firmware.grim.nic.layout import PROGRAM_END, ROUTE_BYTES, Layout, State, Word
from firmware.grim.nic.size_requests import resolve_options
from firmware.grim.nic.variables import Variables
from firmware.grim.options import ALL_AT_MOST, Options
from firmware.options import OptionError
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.waiting import Wait, Wanted

FIXED_OPTIONS: Mapping[str, int | str] = {
    "queue_style": "append",
    "sequencing": "any-to-any",
    "buffering": "sending",
    "control_queue": 1,
    "timeout_us": 0,
    "dma_inject": 0,
    "doorbell_notify": 0,
    "search_timer": 0,
    "synchronisation": "auto",
}
"""Options for which the firmware in C supports a single value."""
UNSUPPORTED = (
    "remote memory",
    "multicast",
    "FPGA cards",
    "slotted and hybrid queues",
    "per-NI sequencing",
    "incoming queues",
    "doorbells and fetched payloads",
    "timed searches",
    "hosts that come back",
)
"""Unsupported features, in the words of a study's `NEEDS`."""


def words(view: ClusterView, word_bytes: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield SRAM addresses and the words to load there: the routes and `struct configuration`.

    Args:
        view: Cluster as this node sees it.
        word_bytes: Width of an SRAM word in bytes.

    Raises:
        OptionError: The firmware in C does not support an option or the cluster.
    """
    options, layout = resolve_options(view, view.sram_bytes, executes=True)
    check(view.options, ["FPGA cards"] if card_channel(options, view) != NO_CARD else [])
    if options.has_tree(len(view.names)):
        cause = f"GRIM's firmware in C synchronises at most {ALL_AT_MOST} NIs, but the cluster has {len(view.names)}"
        raise OptionError("nic.firmware=c", cause, "use nic.firmware=python")
    for vnn, route in view.routes.items():
        high, low, begin, skip = route_row(route, word_bytes)
        yield layout.routes + 2 * ROUTE_BYTES * vnn, (high, low, begin + skip, 0)
    yield PROGRAM_END, configuration(options, layout, view.me, len(view.names))


def check(given: Mapping[str, float | str], needs: Sequence[str] = ()) -> None:
    """Raise OptionError for an option or a needed feature that the firmware in C does not support."""
    options = Options.from_values(given)
    for name, value in FIXED_OPTIONS.items():
        if (chosen := getattr(options, name)) != value:
            cause = f"GRIM's firmware in C supports only {name}={value}"
            raise OptionError(f"option {name}={chosen}", cause, f"use {value}, or nic.firmware=python")
    for need in needs:
        if need in UNSUPPORTED:
            supported = "append queues, any-to-any sequencing and active messages"
            raise OptionError(
                "nic.firmware=c", f"GRIM's firmware in C does not support {need}, only {supported}", "use python"
            )


def waits(nic: Nic, view: ClusterView) -> Iterator[Wait]:
    """Yield a wait for each rejected stream whose destination host must make room, for hang reports."""
    _, layout = resolve_options(view, view.sram_bytes, executes=True)
    if nic.load(Word.STATE) != State.RUNNING:
        return
    for stream in Variables(nic, layout).refused():
        vnn = stream >> layout.channel_shift & (1 << layout.node_shift) - 1
        room = f"room in the endpoint queues of VNN {vnn} (stream {stream})"
        yield Wait(nic.who, Wanted(room, f"host {view.names[vnn]}"))


def configuration(options: Options, layout: Layout, me: int, nodes: int) -> tuple[int, ...]:
    """Return the words of `struct configuration` in `configuration.h`, in order."""
    queues, trees = layout.queues, layout.tree_queues
    return (
        *(layout.counters, layout.channels, layout.routes, layout.scoreboard, layout.outgoing, layout.incoming),
        *(4 * layout.streams, layout.cursor, layout.ready, layout.held, layout.queued, layout.by_token),
        *(layout.control, layout.report, layout.blocks, layout.pointers, *layout.buffers),
        *(queues[0], queues[1] - queues[0] if len(queues) > 1 else 0, layout.own_queue),
        *(trees[0] if trees else 0, trees[1] - trees[0] if len(trees) > 1 else 0),
        *(me, nodes, options.channels, options.multicast_trees, layout.targets, layout.slots),
        *(layout.node_shift, layout.channel_shift, layout.ring),
        *(layout.control_entries, layout.blocks_count, layout.buffer_bytes),
        *(layout.limit, layout.own_limit, layout.tree_limit, layout.slot, layout.host_slot, layout.host_limit),
        *(options.window, 2 * options.retry_delay_us, 2 * options.sync_period_us),
        *(layout.cut_through, options.cut_through_least),
    )
