"""Stacked layers of another repository that share layers of this one.

Strategy: the layers of `madeup_layers.py` are found as those of this tree are. They run on the machine over GRIM and
VIA, two at once over one GRIM. Their charges, report data and settings are checked; invalid combinations are rejected
by name. `tests/system/test_layers_on_layers.py` runs the same layers on the RTL.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import firmware
from firmware.layer import Options
from firmware.layers import has_program, nic_program
from firmware.stack import Libraries, layers_below, shown_together, stack
from firmware.view import ClusterView
from pymodels.costs import CostError, PathTable
from pymodels.errors import SanlabError
from pymodels.machine import Machine
from pymodels.roots import TREE
from tb.plan.options import stack_options
from tests.unit.layers.madeup_layers import write

WRONG = {
    name: f'from firmware.layer import Layer\nLAYER = Layer(name="{name}", library=print, stands_on=("{below}",))\n'
    for name, below in (("lost", "grmi"), ("chicken", "egg"), ("egg", "chicken"))
}


@pytest.fixture(autouse=True)
def _found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the layers available during a test."""
    root = write(tmp_path, **WRONG)
    monkeypatch.setattr("pymodels.roots.roots", lambda: (TREE, root))
    monkeypatch.setattr(firmware, "__path__", [*firmware.__path__, str(root / "firmware")])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("firmware."):
            del sys.modules[name]


def started(machine: Machine, *layers: str, **options: str) -> list[list[Any]]:
    """Return the libraries by layer and host; options of each layer are given as `<layer>_<option>`."""

    def libraries(node: int) -> Libraries:
        def view(layer: str, given: Options) -> ClusterView:
            own = {name.partition("_")[2]: value for name, value in options.items() if name.startswith(f"{layer}_")}
            return ClusterView(**machine.view(node, **own, **given))  # type: ignore[arg-type]

        def program(layer: str, seen: ClusterView) -> ClusterView:
            if has_program(layer):
                nic = machine.processor(node)
                nic.spawn(nic_program(layer)(nic, seen), layer)
            return seen

        return Libraries(machine.host(node), view, program)

    nodes = [libraries(node) for node in range(len(machine.names))]
    return [[one.start(layer) for one in nodes] for layer in layers]


def bare(machine: Machine) -> Libraries:
    """Return the libraries of a host whose NIC has no program."""
    return Libraries(machine.host(0), lambda layer, given: ClusterView(**machine.view(0)), lambda layer, view: view)


async def enabled(here: Any) -> None:
    """Start GRIM on a host."""
    await here.grim_enable()
    await here.sync_handlers()


def test_messages_of_two_layers_on_one_grim_arrive() -> None:
    machine = Machine(2)
    notes, tallies = started(machine, "notes", "tally")
    assert [one.below is other.below for one, other in zip(notes, tallies, strict=True)] == [True, True]

    async def near() -> None:
        await enabled(notes[0].below)
        await notes[0].below.wait_for(lambda: notes[0].below.nodes_served == 1)
        await notes[0].send(b"a note")
        await tallies[0].add(5)

    async def far() -> None:
        await enabled(notes[1].below)
        await notes[1].below.wait_for(lambda: notes[1].kept and tallies[1].total)

    machine.finish(near(), far())
    assert (notes[1].kept, tallies[1].total) == ([b"\x4e\x4f\x00\x01a note"], 5)


def test_the_option_on_selects_the_layer_below() -> None:
    machine = Machine(2)
    ((near, far),) = started(machine, "notes", notes_on="via")
    machine.finish(near.start(), far.start())
    machine.finish(far.post())
    machine.finish(near.send(b"a note"), far.receive())
    assert far.kept == [b"\x4e\x4f\x00\x01a note"]


def test_restarting_a_layer_closes_the_layers_on_it() -> None:
    machine = Machine(2)
    node = bare(machine)
    first, grim, second = node.start("tally"), node.start("grim"), node.start("tally")
    assert first.below is not grim
    assert second.below is grim


def test_each_path_is_charged_by_the_table_of_its_layer() -> None:
    tables = [PathTable.load("host", layer) for layer in ("grim", "notes", "tally")]
    table = PathTable.together(tables)
    assert table.cost("take_note").instructions == 90
    assert (table.owner("take_note"), table.owner(next(iter(tables[0].paths)))) == ("notes/host", "grim/host")
    with pytest.raises(CostError) as error:
        PathTable.together([*tables, tables[2]])
    assert str(error.value) == (
        "path 'add_up': is one of tally/host and one of tally/host, which run on one processor; rename one"
    )


def test_stages_of_the_upper_layer_come_after_those_of_the_lower() -> None:
    stages = [one.stage for one in shown_together(("grim", "notes", "tally")).stages]
    assert stages == [one.stage for one in shown_together(("grim",)).stages] + ["note_kept"]


def test_settings_of_all_layers_below_are_those_of_a_study() -> None:
    options = stack_options("notes")
    assert {"notes.longest", "notes.on", "grim.channels", "via.vis"} <= options.keys()
    assert (options["notes.on"].default, options["notes.on"].choices) == ("grim", ("grim", "via"))


def test_a_stack_lists_each_layer_once_lowest_first() -> None:
    assert stack(["notes", "tally"], {}) == ("grim", "notes", "tally")
    assert stack(["notes"], {"notes": {"on": "via"}}) == ("via", "notes")
    assert (layers_below("grim"), stack([], {})) == ((), ())


@pytest.mark.parametrize(
    ("layers", "options", "said"),
    [
        (["lost"], {}, "layer 'lost': stands_on names 'grmi', which does not exist; did you mean 'grim'?"),
        (
            ["egg"],
            {},
            "layer 'egg': is stacked on itself: egg on chicken on egg; choose another layer below one of them",
        ),
        (["notes"], {"notes": {"on": "grin"}}, "layer 'notes': cannot run on 'grin'; did you mean 'grim'?"),
        (
            ["tally", "notes"],
            {"notes": {"on": "via"}},
            "layer 'via': the NICs already run 'grim', and each runs one program; "
            "use layers with the same layer at the bottom",
        ),
    ],
)
def test_invalid_stacks_are_rejected_by_name(layers: list[str], options: dict[str, Options], said: str) -> None:
    with pytest.raises(SanlabError) as error:
        stack(layers, options)
    assert (str(error.value), error.value.exit_code) == (said, 2)


def test_a_second_nic_program_is_rejected() -> None:
    node = bare(Machine(2))
    node.start("tally")
    with pytest.raises(SanlabError, match="layer 'via': the NICs already run 'grim'"):
        node.start("via")
