"""Misuse of GRIM's calls for trees, cards and counters. See `grim_misuse`."""

from __future__ import annotations

from pymodels.card.registers import Forward
from tests.unit.grim.grim_misuse import BYTES, CHANNELS, FAR, RESOLVE, WHOLE, Row

ROWS: list[Row] = [
    (
        "find_multicast_tree",
        "no name",
        lambda g, w: g.find_multicast_tree(""),
        "name: '' is not a valid tree name; give 1 to 255 bytes",
    ),
    ("find_multicast_tree", "a number", lambda g, w: g.find_multicast_tree(1), "name: 1 is not a string; give a name"),
    (
        "find_multicast_tree",
        "one too many",
        lambda g, w: g.find_multicast_tree("second"),
        "name: 'second' would be tree 2, but option multicast_trees allows 1; increase it",
    ),
    (
        "subscribe_multicast",
        "no such tree",
        lambda g, w: g.subscribe_multicast(66, 1),
        "tree: unknown multicast tree 66; call find_multicast_tree first (known trees: 1 (tree))",
    ),
    ("subscribe_multicast", "a tree's name", lambda g, w: g.subscribe_multicast("tree", 1), "tree: 'tree'" + WHOLE),
    (
        "subscribe_multicast",
        "no channels",
        lambda g, w: g.subscribe_multicast(w.tree, 0),
        "channels: 0x0 is not a mask of channels 0..0; set bit i for channel i",
    ),
    (
        "subscribe_multicast",
        "channels that are not there",
        lambda g, w: g.subscribe_multicast(w.tree, 2),
        "channels: 0x2 is not a mask of channels 0..0; set bit i for channel i",
    ),
    ("subscribe_multicast", "half a mask", lambda g, w: g.subscribe_multicast(w.tree, 0.5), "channels: 0.5" + WHOLE),
    (
        "subscribe_multicast_by_name",
        "a number",
        lambda g, w: g.subscribe_multicast_by_name(1, 1),
        "name: 1 is not a string; give a name",
    ),
    (
        "subscribe_multicast_by_name",
        "no channels",
        lambda g, w: g.subscribe_multicast_by_name("tree", 0),
        "channels: 0x0 is not a mask of channels 0..0; set bit i for channel i",
    ),
    (
        "unsubscribe_multicast",
        "no such tree",
        lambda g, w: g.unsubscribe_multicast(66, 1),
        "tree: unknown multicast tree 66; call find_multicast_tree first (known trees: 1 (tree))",
    ),
    (
        "unsubscribe_multicast",
        "not subscribed",
        lambda g, w: g.unsubscribe_multicast(w.tree, 1),
        "channels: 0x01 has channels that are not subscribed to tree 1 (0x00); give subscribed channels",
    ),
    (
        "send_mc",
        "no such tree",
        lambda g, w: g.send_mc(77, w.handler),
        "tree: unknown multicast tree 77; call find_multicast_tree first (known trees: 1 (tree))",
    ),
    ("send_mc", "a tree's name", lambda g, w: g.send_mc("tree", w.handler), "tree: 'tree'" + WHOLE),
    (
        "send_mc",
        "no such handler",
        lambda g, w: g.send_mc(w.tree, 60_000),
        "handler: 60000 is not a registered handler" + RESOLVE,
    ),
    (
        "send_mc",
        "a handler of the library",
        lambda g, w: g.send_mc(w.tree, 3),
        "handler: 3 belongs to the library" + RESOLVE,
    ),
    (
        "send_mc",
        "an argument of 33 bits",
        lambda g, w: g.send_mc(w.tree, w.handler, 1 << 32),
        "argument 0: 4294967296 does not fit into 32 bits; send it as payload",
    ),
    (
        "send_mc",
        "no such channel here",
        lambda g, w: g.send_mc(w.tree, w.handler, channel=1),
        "channel: unknown channel 1" + CHANNELS,
    ),
    (
        "send_mc",
        "text as payload",
        lambda g, w: g.send_mc(w.tree, w.handler, payload="text"),
        "payload: str" + BYTES.format("str"),
    ),
    (
        "broadcast",
        "a handler of the library",
        lambda g, w: g.broadcast(9),
        "handler: 9 belongs to the library" + RESOLVE,
    ),
    ("broadcast", "half an argument", lambda g, w: g.broadcast(w.handler, 0.5), "argument 0: 0.5" + WHOLE),
    ("broadcast", "half a channel", lambda g, w: g.broadcast(w.handler, channel=0.5), "channel: 0.5" + WHOLE),
    (
        "forward",
        "a circuit that is not there",
        lambda g, w: g.forward(FAR, "fir16", Forward.REPLY),
        "circuit: 'fir16' is not in the circuit file; none are known",
    ),
    (
        "forward",
        "a circuit's number",
        lambda g, w: g.forward(FAR, 1, Forward.REPLY),
        "circuit: 1 is not a string; give a name",
    ),
    (
        "forward",
        "invalid forwarding mode",
        lambda g, w: g.forward(FAR, "fir16", 7),
        "circuit: 'fir16' is not in the circuit file; none are known",
    ),
    (
        "ni_counter",
        "a counter that is not there",
        lambda g, w: g.ni_counter(999),
        "counter: unknown counter 999; use a member of Counter",
    ),
    (
        "ni_counter",
        "a counter's name",
        lambda g, w: g.ni_counter("SENT"),
        "counter: unknown counter 'SENT'; use a member of Counter",
    ),
]
