"""Boards of `make board`: device, pins and PLL, and the top of a design on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pymodels.board.map import Clock
from pymodels.errors import nearest
from tb.fpga.board_design import PS_PER_S, Clocking, Design, instance, periods
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

BUS_HZ = 25_000_000
"""Bus clock of all boards; also the frequency at which the PLL compares phases."""
VCO_HZ = 800_000_000
"""Frequency of the PLL's oscillator; ECP5 allows 400 to 800 MHz."""
LARGEST_DIVIDER = 128
BAUD = 1_000_000
TIMEOUT_S = 0.1


@dataclass(frozen=True)
class Board:
    """ECP5 board.

    Attributes:
        name: Value of BOARD; the constraints are in hdl/board/<name>.lpf.
        title: Name for users.
        device: Option of nextpnr for the device.
        package: Its package.
        speed: Its speed grade.
        clock_hz: Frequency of the board's oscillator, a multiple of `BUS_HZ`.
        ports: Ports of the top as SystemVerilog text.
        clock: Port of the oscillator.
        reset_n: Expression that is 0 while the reset button is pressed.
        rxd: Port of the line from the host.
        txd: Port of the line to the host.
        rest: Assignments of other outputs; `led` has the LEDs, 1 for on.
        load: Command that loads a bitstream.
    """

    name: str
    title: str
    device: str
    package: str
    speed: str
    clock_hz: int
    ports: tuple[str, ...]
    clock: str
    reset_n: str
    rxd: str
    txd: str
    rest: tuple[str, ...]
    load: str

    @property
    def constraints(self) -> Path:
        """File with the pins of the board."""
        return ROOT / "hdl" / "board" / f"{self.name}.lpf"


BOARDS: Mapping[str, Board] = MappingProxyType(
    {
        one.name: one
        for one in (
            Board(
                name="ulx3s",
                title="Radiona ULX3S with LFE5U-85F",
                device="--85k",
                package="CABGA381",
                speed="6",
                clock_hz=25_000_000,
                ports=(
                    "input logic clk_25mhz",
                    "input logic fire1",
                    "input logic ftdi_txd",
                    "output logic ftdi_rxd",
                    "output logic wifi_gpio0",
                    "output logic [7:0] led",
                ),
                clock="clk_25mhz",
                reset_n="!fire1",
                rxd="ftdi_txd",
                txd="ftdi_rxd",
                rest=("assign wifi_gpio0 = 1'b1;",),
                load="openFPGALoader -b ulx3s",
            ),
            Board(
                name="ecpix5",
                title="LambdaConcept ECPIX-5 with LFE5UM5G-85F",
                device="--um5g-85k",
                package="CABGA554",
                speed="8",
                clock_hz=100_000_000,
                ports=(
                    "input logic clk100",
                    "input logic rst_n",
                    "input logic serial_rx",
                    "output logic serial_tx",
                    "output logic [7:0] led_n",
                ),
                clock="clk100",
                reset_n="rst_n",
                rxd="serial_rx",
                txd="serial_tx",
                rest=("logic [7:0] led;", "assign led_n = ~led;"),
                load="openFPGALoader -b ecpix5_r03",
            ),
        )
    }
)
"""Known boards by name."""


def find_board(name: str) -> Board:
    """Return a board by name. Raises ToolError with the known names."""
    if name not in BOARDS:
        cause = f"BOARD names one of {', '.join(BOARDS)}"
        raise ToolError(f"unknown board {name!r}", cause, nearest(name, BOARDS))
    return BOARDS[name]


def clocking(slower: int) -> Clocking:
    """Return the clocks of a design on any board, NIC and link `slower` times slower than in the profile."""
    return Clocking(BUS_HZ, slower, BUS_HZ // BAUD, round(BUS_HZ * TIMEOUT_S))


def dividers(design: Design, slower: int) -> dict[Clock, int]:
    """Return the dividers of the PLL's oscillator for the clocks of a design.

    Raises:
        ToolError: A clock is not an integer fraction of the oscillator's frequency, or too slow.
    """
    found = {}
    for clock, period in periods(design, BUS_HZ).items():
        scaled = VCO_HZ * period * (1 if clock is Clock.BUS else slower)
        found[clock], rest = divmod(scaled, PS_PER_S)
        if rest or not 1 <= found[clock] <= LARGEST_DIVIDER:
            cause = f"{scaled / PS_PER_S:g} periods of the PLL's {VCO_HZ // 10**6} MHz are not a divider up to 128"
            raise ToolError(f"{clock.name} clock of {design.profile}", cause, "choose another SLOWER or profile")
    return found


PLL_IDLE = (
    "RST",
    "STDBY",
    "PHASESEL0",
    "PHASESEL1",
    "PHASEDIR",
    "PHASESTEP",
    "PHASELOADREG",
    "PLLWAKESYNC",
    "ENCLKOP",
    "ENCLKOS",
    "ENCLKOS2",
)
"""Inputs of the PLL that are 0."""
PLL_OUTPUTS: Mapping[str, Clock] = MappingProxyType({"CLKOP": Clock.LINK, "CLKOS": Clock.NIC, "CLKOS2": Clock.BUS})
"""Clock of each output of the PLL; CLKOS2 is its feedback."""


def _parameters(board: Board, design: Design, slower: int) -> dict[str, str | int]:
    divider = dividers(design, slower)
    given: dict[str, str | int] = {
        "CLKI_DIV": board.clock_hz // BUS_HZ,
        "CLKFB_DIV": 1,
        "FEEDBK_PATH": '"CLKOS2"',
        "OUTDIVIDER_MUXA": '"DIVA"',
        "OUTDIVIDER_MUXB": '"DIVB"',
        "OUTDIVIDER_MUXC": '"DIVC"',
    }
    for name, clock in PLL_OUTPUTS.items():
        given |= {f"{name}_ENABLE": '"ENABLED"', f"{name}_DIV": divider[clock]}
        given |= {f"{name}_CPHASE": divider[clock] - 1, f"{name}_FPHASE": 0}
    return given


def pll(board: Board, design: Design, slower: int) -> str:
    """Return the instance of the PLL: link clock, NIC clock and bus clock, which is also its feedback."""
    pins = {name: f"{clock.name.lower()}_clk" for name, clock in PLL_OUTPUTS.items()}
    pins |= {"CLKI": board.clock, "CLKFB": "bus_clk", "LOCK": "locked", **dict.fromkeys(PLL_IDLE, "1'b0")}
    given = ",\n".join(f"      .{name}({value})" for name, value in _parameters(board, design, slower).items())
    ports = ",\n".join(f"      .{name}({value})" for name, value in pins.items())
    return f"  EHXPLLL #(\n{given}\n  ) u_pll (\n{ports}\n  );\n"


def pll_stub(board: Board, design: Design, slower: int) -> str:
    """Return the declaration of the PLL as a black box, for the reader of the sources."""
    given = ",\n".join(f"    parameter {name} = {value}" for name, value in _parameters(board, design, slower).items())
    inputs = ("CLKI", "CLKFB", *PLL_IDLE)
    ports = [*(f"    input {name}" for name in inputs), *(f"    output {name}" for name in (*PLL_OUTPUTS, "LOCK"))]
    return f"(* blackbox *) module EHXPLLL #(\n{given}\n) (\n" + ",\n".join(ports) + "\n);\nendmodule\n"


def top_name(board: Board) -> str:
    """Return the name of the top module on a board."""
    return f"board_{board.name}"


def top(board: Board, design: Design, slower: int, identity: str) -> str:
    """Return the top of a design on a board as SystemVerilog text.

    Args:
        board: The board.
        design: The design.
        slower: Factor by which NIC and link clock are slower than in the profile.
        identity: Digits of the board_identity_t; empty for the text whose hash is part of it.
    """
    pins = {
        "arst_n": f"locked && {board.reset_n}",
        "bus_clk": "bus_clk",
        "nic_clk": "nic_clk",
        "link_clk": "link_clk",
        "rxd": board.rxd,
        "txd": board.txd,
        "led": "led",
        "identity": f"256'h{identity or 0}",
    }
    ports = ",\n".join(f"    {port}" for port in board.ports)
    rest = "".join(f"  {line}\n" for line in board.rest)
    return (
        f"module {top_name(board)} (\n{ports}\n);\n  logic bus_clk, nic_clk, link_clk, locked;\n{rest}"
        f"{pll(board, design, slower)}{instance(design, clocking(slower), pins)}endmodule\n"
    )
