"""Programs of the mixed fuzz test with fixed seeds, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tb.fuzz import trial
from tb.fuzz.known import known
from tb.fuzz.program import Program

SEEDS = Path(__file__).parent / "fuzzed.toml"
"""Seeds of each layer that reach further branches in addition to COUNTED (`choose_seeds`)."""
COUNTED: Mapping[str, int] = MappingProxyType(
    {"am": 50, "am2": 50, "epos": 50, "grim": 150, "hal": 50, "udp": 50, "via": 100}
)
"""Number of seeds, from 0 on, that run where their charges are counted; together they charge every path."""
OF: Mapping[str, int] = MappingProxyType({"am": 100, "grim": 400, "hpam": 100, "ssam": 100, "via": 400})
"""Number of candidate seeds of a layer, unless given in OTHERS."""
OTHERS = 50


def wrong(layer: str, seed: int, program: Program) -> str:
    """Run a program on the machine and return its failure with the command to reproduce it; empty if it passes."""
    failures = list(trial.on_machine(layer, program).failures)
    if not failures or known(layer, failures) is not None:
        return ""
    return f"make fuzz LAYER={layer} SEEDS={seed}..{seed}\n{program}\n" + "\n".join(failures[:5])
