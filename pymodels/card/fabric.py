"""The circuits of a circuit file in Verilog: which image has which circuit in which slot.

The module `myri_card_circuits` holds every circuit of every slot; the image of each slot chooses one, all others are
held in reset, which is how a reconfiguration drops their state. A circuit in Python is an instance of `sim_circuit`,
with the same pins. Circuits are numbered by their first appearance in the file, images from 1. The file in `hdl/card`
is made from EXAMPLE by `python -m pymodels.card.fabric --sv`; a cluster with a circuit file of its own gets its own
module at build time.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pymodels.card.registers import CIRCUITS, MOST_MESSAGE


@dataclass(frozen=True)
class Circuit:
    """Entry of a circuit file: a circuit of the FPGA card, the image (configuration file) that contains it, and its
    slot.
    """

    image: str
    slot: int
    name: str
    python: str = ""
    """Coroutine function `module:function` in the slot; empty for a circuit in SystemVerilog."""
    beside: str = ""
    """Coroutine function that can replace the circuit in SystemVerilog (`pymodels.card.python.exchanged`)."""
    most: int = MOST_MESSAGE
    """Longest message in bytes that the circuit accepts."""


MODULE = "myri_card_circuits"
PLACES = 256
"""Number of instances of a simulated card (hdl/sim/doorway/circuit.c)."""
FILE = Path(__file__).resolve().parents[2] / "hdl" / "card" / f"{MODULE}.sv"
EXAMPLE = (
    Circuit("filters.bit", 0, "fir16"),
    Circuit("filters.bit", 1, "histogram"),
    Circuit("filters.bit", 2, "loopback"),
    Circuit("digests.bit", 0, "crc32"),
    Circuit("digests.bit", 1, "sha256"),
    Circuit("digests.bit", 2, "loopback"),
)
"""The circuits of `hdl/card/myri_card_circuits.sv`."""


def images(circuits: Sequence[Circuit]) -> list[str]:
    """Return the image files in the order of their numbers, which begin at 1."""
    return list(dict.fromkeys(circuit.image for circuit in circuits))


def names(circuits: Sequence[Circuit]) -> list[str]:
    """Return the circuits in the order of their numbers. Raises ValueError if there are more than the card's tables
    hold.
    """
    found = list(dict.fromkeys(circuit.name for circuit in circuits))
    if len(found) > CIRCUITS:
        raise ValueError(f"{len(found)} circuits; the card's tables hold {CIRCUITS}")
    return found


def limits(circuits: Sequence[Circuit]) -> dict[str, int]:
    """Return the longest message in bytes that each circuit accepts, by name."""
    return {name: min(one.most for one in circuits if one.name == name) for name in names(circuits)}


def places(circuits: Sequence[Circuit]) -> list[Circuit]:
    """Return the instances of the card in the order of their numbers: a circuit in two images is one instance.

    Raises ValueError if the card of a simulation has too many.
    """
    found: dict[tuple[int, str, str], Circuit] = {}
    for circuit in circuits:
        found.setdefault((circuit.slot, circuit.name, circuit.python), circuit)
    if len(found) > PLACES:
        raise ValueError(f"{len(found)} circuits in slots; a card has at most {PLACES}")
    return list(found.values())


def identity(circuits: Sequence[Circuit]) -> int:
    """Return the CRC-32 of a circuit file's entries, which an image shares with the card for which it is made."""
    lines = (f"{one.image} {one.slot} {one.name} {one.python}\n" for one in circuits)
    return zlib.crc32("".join(lines).encode("utf-8"))


def _word(number: int, circuit: Circuit) -> str:
    """Return the name of an instance."""
    return f"slot{circuit.slot}_{circuit.name}" + (f"_python{number}" if circuit.python else "")


def _instance(number: int, circuit: Circuit, chosen: str) -> str:
    """Return the instance of a circuit in a slot; `chosen` is the condition under which it is configured."""
    slot, name = circuit.slot, circuit.name
    who = _word(number, circuit)
    in_python = f"sim_circuit #(\n      .UNIT (UNIT),\n      .PLACE({number})\n  )"
    kind = in_python if circuit.python else f"myri_circuit_{name}"
    return f"""
  // slot {slot}: {name}
  logic {who}_here;
  assign {who}_here = {chosen};
  {kind} {who} (
      .clk,
      .rst(rst || !{who}_here),
      .ce,
      .arguments,
      .in_valid(in_valid && active[{slot}] && {who}_here),
      .in_ready(ready[{number}]),
      .in_last,
      .in_bytes,
      .in_data,
      .out_valid(valid[{number}]),
      .out_ready(out_ready && active[{slot}]),
      .out_last(last[{number}]),
      .out_bytes(bytes[3*{number}+:3]),
      .out_data(data[32*{number}+:32]),
      .mem_valid(access[{number}]),
      .mem_ready(mem_ready && active[{slot}]),
      .mem_write(writes[{number}]),
      .mem_addr(addr[17*{number}+:17]),
      .mem_wdata(wdata[32*{number}+:32]),
      .mem_rvalid(mem_rvalid && active[{slot}]),
      .mem_rdata,
      .busy(working[{number}])
  );
  assign used[{number}] = {who}_here && active[{slot}];
  assign slots[2*{number}+:2] = 2'd{slot};"""


PORTS = """    input  logic         clk,         // fabric clock
    input  logic         rst,         // synchronous reset
    input  logic         ce,          // clock enable of the user clock
    input  logic [ 31:0] images,      // image of each slot, slot 0 in the low bits; 0 = empty
    output logic [ 31:0] identity,    // of the circuit file; constant
    output logic [  7:0] files,       // number of images; constant
    input  logic [  7:0] circuit,     // asks: where is the circuit of this number
    output logic         known,       // some image has it
    output logic         here,        // a slot has it ...
    output logic [  1:0] slot,        // ... this one
    output logic [ 24:0] most,        // bytes of the longest message that it accepts
    input  logic [  3:0] active,      // the slot in use
    input  logic [127:0] arguments,   // of the message
    input  logic         in_valid,    // word for the slot in use
    output logic         in_ready,    // taken
    input  logic         in_last,     // the last of its message
    input  logic [  2:0] in_bytes,    // bytes in it
    input  logic [ 31:0] in_data,     // it
    output logic         out_valid,   // word from the slot in use
    input  logic         out_ready,   // taken
    output logic         out_last,    // the last of its message
    output logic [  2:0] out_bytes,   // bytes in it
    output logic [ 31:0] out_data,    // it
    output logic         mem_valid,   // access of bank 3
    input  logic         mem_ready,   // taken
    output logic         mem_write,   // 1 = write
    output logic [ 18:0] mem_addr,    // word, the slot's quarter of the bank
    output logic [ 31:0] mem_wdata,   // write data
    input  logic         mem_rvalid,  // read data, strobe
    input  logic [ 31:0] mem_rdata,   // read data
    output logic         trespass,    // a circuit that is not in use asks for the bank
    output logic         busy         // a circuit wants further edges"""


def module_text(circuits: Sequence[Circuit]) -> str:
    """Return the SystemVerilog module for a circuit file, in which circuit `x` is an instance of `myri_circuit_x`."""
    numbers, files = names(circuits), images(circuits)
    instances = places(circuits)
    bodies, where = [], []
    for number, instance in enumerate(instances):
        place = instance.slot, instance.name, instance.python
        loaded = [files.index(c.image) + 1 for c in circuits if (c.slot, c.name, c.python) == place]
        bodies.append(
            _instance(number, instance, " || ".join(f"images[8*{instance.slot}+:8] == 8'd{n}" for n in loaded))
        )
        asked = f"circuit == 8'd{numbers.index(instance.name)} && {_word(number, instance)}_here"
        where.append(f"    if ({asked}) {{here, slot}} = {{1'b1, 2'd{instance.slot}}};")
    shorter = [
        f"    if (circuit == 8'd{numbers.index(name)}) most = 25'd{most};"
        for name, most in limits(circuits).items()
        if most != MOST_MESSAGE
    ]
    count = len(instances)
    listing = "\n".join(
        f"// {c.image} (image {files.index(c.image) + 1}), slot {c.slot}: {c.name} ({numbers.index(c.name)})"
        + (f", {c.python}" if c.python else "")
        for c in circuits
    )
    newline = "\n"
    return f"""// The circuits of the FPGA card. GENERATED by pymodels/card/fabric.py from a circuit file; edit that:
// a circuit is one Verilog file, myri_circuit_<name>.sv, and one line of the circuit file.
//
{listing}
module {MODULE} #(
    parameter int UNIT = 0  // number of the card in a simulation, for circuits in Python
) (
{PORTS}
);
  localparam int COUNT = {count};
  logic [COUNT-1:0] ready, valid, last, access, writes, working, used;
  logic [3*COUNT-1:0] bytes;
  logic [32*COUNT-1:0] data, wdata;
  logic [17*COUNT-1:0] addr;
  logic [2*COUNT-1:0] slots;
{newline.join(bodies)}

  // ---------------------------------------------------------------- where a circuit is
  assign identity = 32'h{identity(circuits):08X};
  assign files = 8'd{len(files)};
  assign known = circuit < 8'd{len(numbers)};
  always_comb begin
    here = 1'b0;
    slot = 2'd0;
    most = 25'd{MOST_MESSAGE};
{newline.join([*where, *shorter])}
  end

  // ---------------------------------------------------------------- the circuit in use
  always_comb begin
    in_ready  = 1'b0;
    out_valid = 1'b0;
    out_last  = 1'b0;
    out_bytes = '0;
    out_data  = '0;
    mem_valid = 1'b0;
    mem_write = 1'b0;
    mem_addr  = '0;
    mem_wdata = '0;
    for (int i = 0; i < COUNT; i++) begin
      if (used[i]) begin
        in_ready  = ready[i];
        out_valid = valid[i];
        out_last  = last[i];
        out_bytes = bytes[3*i+:3];
        out_data  = data[32*i+:32];
        mem_valid = access[i];
        mem_write = writes[i];
        mem_addr  = {{slots[2*i+:2], addr[17*i+:17]}};
        mem_wdata = wdata[32*i+:32];
      end
    end
  end
  assign trespass = (access & ~used) != '0;
  assign busy = working != '0;

  logic unused;
  assign unused = &{{1'b0, active, images, 1'(UNIT)}};
endmodule
"""


def main(arguments: list[str]) -> int:
    """Run the command line: `--sv` writes the module of EXAMPLE; without arguments its text is printed."""
    if arguments not in ([], ["--sv"]):
        print("usage: python -m pymodels.card.fabric [--sv]", file=sys.stderr)
        return 2
    if arguments:
        FILE.write_text(module_text(EXAMPLE), encoding="utf-8")
    else:
        sys.stdout.write(module_text(EXAMPLE))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
