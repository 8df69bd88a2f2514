"""echo's C firmware, executed instruction by instruction on the machine, with the Python host library.

Strategy: the committed image runs on NICs of the machine, alone and beside NICs that run the coroutine. The hosts must
receive the same messages as from the coroutine. A damaged packet takes the unlikely path. The image is read back as it
was written, and its fingerprint is compared with the sources without a compiler.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.build import main
from firmware.common.nic import route_row
from firmware.echo.host import Echo
from firmware.echo.nic import layout
from firmware.images import cores, fingerprint, header, image, kinds_of, layers
from firmware.layers import host_library, nic_program
from firmware.view import ClusterView
from pymodels import generated
from pymodels.costs.table import PathTable
from pymodels.errors import SanlabError
from pymodels.hardware.discover import nic_kind
from pymodels.lanai.image import Image, ImageError
from pymodels.lanai.program import Line
from pymodels.machine import Machine
from pymodels.machine.executed import execute
from pymodels.machine.timing import flat_cost
from pymodels.profiles.default import DEFAULT_KIND

KIND = DEFAULT_KIND
IMAGES = [(layer, kind) for layer in layers() for kind in kinds_of(layer)]

TABLES = {side: PathTable.load(side, "echo") for side in ("nic", "host")}


def compiled_cost(side: str, path: str) -> int:
    """Return a path's clocks on the machine's NIC: one an instruction, and the load waits of the reference model."""
    cost = TABLES[side].cost(path)
    waits = cost.waits(cores()[KIND].chip.load_delay) if side == "nic" else 0
    return 7_500 * (cost.instructions + waits + cost.uncached)


def opened(in_c: list[bool], costs: bool = False) -> tuple[Machine, list[Echo]]:
    """Return a machine whose NICs execute the image or run the coroutine, and the host libraries."""
    machine, libraries = Machine(len(in_c), cost=compiled_cost if costs else flat_cost), list[Echo]()
    program, chip = Image.load(image("echo", KIND)).program, cores()[KIND].chip
    for node, executes in enumerate(in_c):
        nic, view = machine.nic(node), ClusterView(**machine.view(node))
        if executes:
            for vnn, route in view.routes.items():
                nic.store_words(layout.ROUTES + 16 * vnn, route_row(route, nic.word_bytes))
            nic.spawn(execute(nic, program, chip), "echo in C")
        else:
            nic.spawn(nic_program("echo")(nic, view), "echo")
        libraries.append(host_library("echo")(machine.host(node), view))
    machine.finish(*(library.start() for library in libraries))
    return machine, libraries


def payload(size: int, salt: int = 0) -> bytes:
    return bytes((7 * i + size + 31 * salt) & 0xFF for i in range(size))


@pytest.mark.parametrize("in_c", [[True, True], [True, False], [False, True]])
def test_every_length_comes_back_unchanged(in_c: list[bool]) -> None:
    machine, (here, there) = opened(in_c)
    sizes = (*range(10), 31, 63, 64)

    async def ask() -> None:
        for size in sizes:
            await here.send(1, payload(size))
            assert await here.receive() == (1, payload(size))

    async def answer() -> None:
        for _ in sizes:
            await there.echo()

    machine.finish(ask(), answer())
    assert machine.network.in_flight() == 0


def test_a_damaged_packet_is_dropped_and_the_next_is_received() -> None:
    machine, (here, there) = opened([True, True])
    machine.faults.corrupt(0, 1, number=0, offset=20, mask=0x10)
    machine.finish(here.send(1, payload(64)))
    machine.finish(here.send(1, payload(64, salt=1)))
    assert machine.finish(there.receive()) == [(0, payload(64, salt=1))]
    assert machine.nic(1).receive.crc_bad == 1


def test_three_nodes_lose_no_message_while_receivers_pause() -> None:
    machine, libraries = opened([True, False, True])
    machine.host(2).pause_between(10, 40)
    seen: dict[int, list[tuple[int, bytes]]] = {0: [], 1: [], 2: []}

    async def sender(node: int) -> None:
        for number in range(4):
            for target in {0, 1, 2} - {node}:
                await libraries[node].send(target, payload(number, salt=node))

    async def receiver(node: int) -> None:
        for _ in range(8):
            seen[node].append(await libraries[node].receive())

    machine.finish(*(sender(node) for node in range(3)), *(receiver(node) for node in range(3)))
    for node in range(3):
        for source in {0, 1, 2} - {node}:
            got = [data for origin, data in seen[node] if origin == source]
            assert got == [payload(number, salt=source) for number in range(4)]


def round_trip(in_c: bool) -> float:
    """Return the microseconds of the tenth round trip of 8 bytes."""
    machine, (here, there) = opened([in_c, in_c], costs=True)
    times: list[int] = []

    async def ask() -> None:
        for _ in range(10):
            begin = machine.kernel.now
            await here.send(1, payload(8))
            await here.receive()
            times.append(machine.kernel.now - begin)

    async def answer() -> None:
        for _ in range(10):
            await there.echo()

    machine.finish(ask(), answer())
    return times[-1] / 1e6


def test_executed_firmware_takes_about_as_long_as_the_charged_costs() -> None:
    assert round_trip(in_c=True) == pytest.approx(round_trip(in_c=False), rel=0.1)


@pytest.mark.parametrize(("layer", "kind"), IMAGES)
def test_committed_images_match_their_sources(layer: str, kind: str) -> None:
    made = Image.load(image(layer, kind))
    assert made.compiled["sources_sha256"] == fingerprint(layer, kind), f"run `make firmware LAYER={layer}`"
    assert made.program.end <= made.program.stack <= nic_kind(kind).sram_bytes
    assert made.text(f"make firmware LAYER={made.compiled['layer']}") == generated.found(image(layer, kind))


@pytest.mark.parametrize("kind", cores())
def test_the_c_header_of_a_nic_kind_has_its_registers(kind: str) -> None:
    core = cores()[kind]
    assert header(kind).read_text(encoding="utf-8") == core.header(), "run `python -m firmware.build --headers`"
    assert f"#define REGISTER_SMP (-{(1 << core.chip.register_bits) - core.registers['SMP']:#05x})" in core.header()


def test_the_symbol_map_resolves_functions_and_lines() -> None:
    program = Image.load(image("echo", KIND)).program
    assert program.symbol(program.symbols["deliver"] + 4) == "deliver+0x4"
    here = program.line(program.symbols["main"])
    source = Path(__file__).parents[3] / "firmware/echo/nic/firmware.c"
    assert isinstance(here, Line) and here.file == "firmware/echo/nic/firmware.c"
    assert source.read_text(encoding="utf-8").splitlines()[here.line - 1] == "int main(void) {"


def test_a_missing_or_damaged_image_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"none\.toml: is missing; make it: `make firmware LAYER=<layer>`"):
        Image.load(tmp_path / "none.toml")
    text = generated.found(image("echo", KIND)) or ""
    bad = tmp_path / "bad.toml"
    for broken in (text.replace("stack", "stick", 1), text.replace("02010000", "0201000x"), text.split("[[piece]]")[0]):
        bad.write_text(broken, encoding="utf-8")
        with pytest.raises(ImageError, match=r"bad\.toml: is damaged .*; make it again, or take the committed one"):
            Image.load(bad)
    with pytest.raises(SanlabError, match=r"layer 'ecco': has no firmware\.c; did you mean 'echo'\?"):
        image("ecco", KIND)


def test_the_command_reports_an_unknown_layer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no_such_layer"]) == 1
    assert "layer 'no_such_layer': has no firmware.c" in capsys.readouterr().err
    assert main(["--list", KIND, "echo"]) == 0
    assert "<deliver>:" in capsys.readouterr().out
