"""External repository with stacked layers: `notes` on GRIM or VIA, `tally` on GRIM, composed with or without checks."""

from __future__ import annotations

from pathlib import Path

COMPILED = '[compiled]\norigin = "compiled"\n[path]\n'
NOTES = '''"""Notes: short texts with a number, on whichever layer is below."""
from struct import Struct

HEADER = Struct(">HH")
TYPE = 0x4E4F


class Notes:
    """The library of one host."""

    def __init__(self, host, view, below):
        self.host, self.me, self.below, self.kept, self.number = host, view.me, below, [], 0

    async def packed(self, text):
        await self.host.spend("number_note")
        self.number += 1
        return HEADER.pack(TYPE, self.number) + text

    async def keep(self, data):
        await self.host.spend("take_note")
        self.kept.append(bytes(data))


class OverGrim(Notes):
    def __init__(self, host, view, below):
        super().__init__(host, view, below)
        below.register_handler(self._take, "note")

    async def send(self, text):
        data = await self.packed(text)
        handler = await self.below.resolve_handler("note")
        await self.below.send(self.below.get_dest_id(1 - self.me), handler, 0, len(data), payload=data)

    async def receive(self):
        count = len(self.kept)
        await self.below.wait_for(lambda: len(self.kept) > count)

    async def _take(self, source, a0, size, a2, a3, data):
        await self.keep(data[:size])


class OverVia(Notes):
    async def start(self):
        await self.below.start()
        self.nic = await self.below.open()
        tag = self.nic.create_ptag()
        self.base = self.nic.process.allocate(8192)
        self.handle = await self.nic.register_memory(self.base, 8192, tag)
        self.vi = await self.nic.create_vi(tag)
        if self.me:
            await self.nic.connect_accept(await self.nic.connect_wait(7, 5000), self.vi)
        else:
            await self.vi.connect_request(1, 7, 5000)

    def _descriptor(self, number):
        return self.nic.descriptor(self.base + 4096 + 64 * number, self.handle)

    async def send(self, text):
        data = await self.packed(text)
        self.nic.process.store_bytes(self.base, data)
        await self.vi.post_send(self._descriptor(0).send([(self.base, self.handle, len(data))]))
        await self.vi.poll_send()

    async def post(self):
        await self.vi.post_receive(self._descriptor(1).receive([(self.base + 2048, self.handle, 64)]))

    async def receive(self):
        done = await self.vi.poll_receive()
        await self.keep(self.nic.process.load_bytes(self.base + 2048, done.length))


def open_layer(host, view, below):
    return {"grim": OverGrim, "via": OverVia}[view.options.get("on", "grim")](host, view, below)
'''
TALLY = '''"""A counter on each host that others add to."""


class Tally:
    """The library of one host."""

    def __init__(self, host, view, below):
        self.host, self.me, self.below, self.total, self.options = host, view.me, below, 0, view.options
        below.register_handler(self._add, "add")

    async def add(self, value):
        handler = await self.below.resolve_handler("add")
        await self.below.send(self.below.get_dest_id(1 - self.me), handler, value)

    async def _add(self, source, value, a1, a2, a3, data):
        await self.host.spend("add_up")
        if composition(self.options):
            await self.host.spend("check_up")
        self.total += value


def composition(options):
    return ("checked", "twice")[: int(options.get("checked", 0))]
'''
SHOWN = """from firmware.shown import Boundary, Plain, Shown
from pymodels.trace import Part, TraceEvent

TOLD = "the library of {target} keeps the note"
KEPT = Boundary("note_kept", TraceEvent.HANDLER_END, Part.HOST_CPU, 1, TOLD)
SHOWN = Shown((KEPT,), plain=Plain(0x4E4F, {"number": (2, "Number")}))
"""
NOTES_LAYER = """from firmware.layer import Layer
from firmware.notes.host import open_layer
from firmware.notes.options import Options
from firmware.notes.shown import SHOWN

LAYER = Layer(name="notes", library=open_layer, options=Options, stands_on=("grim", "via"), shown=SHOWN)
"""
TALLY_LAYER = """from firmware.layer import Layer
from firmware.tally.host import Tally, composition
from firmware.tally.options import Options

LAYER = Layer(name="tally", library=Tally, options=Options, stands_on=("grim",), composition=composition)
"""
OPTIONS = """from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    longest: int = option(60, "Length", 0, 64)
"""
STUDY = '''"""Do two layers share what they stand on?"""
from tb.plan.options import stack_options
from tb.studies.grim._grim import bring_up

LAYER = ("notes", "tally")
OPTIONS = {**stack_options("notes"), **stack_options("tally")}


async def run(lab):
    notes, tallies = lab.start_layer("notes"), lab.start_layer("tally")
    grims = [one.below for one in notes]
    lab.check("lower layers", all(one.below is grim for one, grim in zip(tallies, grims)), "each has its own")
    await bring_up(lab, grims, [{}, {}])
    await notes[0].send(b"a note")
    await tallies[0].add(5)
    await grims[1].wait_for(lambda: tallies[1].total and notes[1].kept)
    lab.findings.messages += 2
    lab.metric("total", tallies[1].total)
    lab.metric("kept_bytes", len(notes[1].kept[0]))
    lab.metric("ended_ps", lab.kernel.now)
'''
ALONE = '''"""A layer on VIA."""
from tb.plan.options import stack_options

LAYER = "notes"
OPTIONS = stack_options("notes")


async def run(lab):
    near, far = lab.start_layer("notes")
    await lab.all([lab.spawn(one.start(), "start") for one in (near, far)])
    await far.post()
    receiving = lab.spawn(far.receive(), "receive")
    await near.send(b"a note")
    await lab.all([receiving])
    lab.findings.messages += 1
    lab.metric("kept_bytes", len(far.kept[0]))
    lab.metric("ended_ps", lab.kernel.now)
'''
FILES = {
    "firmware/notes/host/__init__.py": NOTES,
    "firmware/notes/layer.py": NOTES_LAYER,
    "firmware/notes/shown.py": SHOWN,
    "firmware/notes/options.py": OPTIONS,
    "firmware/notes/host/costs.toml": COMPILED
    + "number_note = { instructions = 40, loads = 8, stores = 6, uncached = 0 }\n"
    + "take_note = { instructions = 90, loads = 9, stores = 4, uncached = 0 }\n",
    "firmware/tally/host/__init__.py": TALLY,
    "firmware/tally/layer.py": TALLY_LAYER,
    "firmware/tally/options.py": OPTIONS.replace("longest", "checked").replace("64", "2").replace("60", "1"),
    "firmware/tally/host/costs.toml": COMPILED
    + "add_up = { instructions = 12, loads = 3, stores = 1, uncached = 0 }\n"
    + '[composition."checked"]\nlacks = []\n[composition."checked".path]\ncheck_up = { instructions = 7 }\n',
    "tb/studies/notes/two_layers.py": STUDY,
    "tb/studies/notes/one_on_via.py": ALONE,
}


def write(root: Path, **further: str) -> Path:
    """Write the repository, with descriptors of further layers by name, and return its folder."""
    for name, text in {**FILES, **{f"firmware/{one}/layer.py": text for one, text in further.items()}}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
