"""Compiler driver for C firmware: `firmware.c` of a layer to one image for each kind of NIC.

Usage: `python -m firmware.build LAYER` compiles, links and writes `firmware.<kind>.toml` beside the source, for each
kind that already has such a file. An empty file requests an image for its kind. Without any file, the image is for the
default kind. `--check` compares instead of writing, `--list KIND` prints the code with its source lines, and
`--headers` writes the registers of every kind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from firmware.images import (
    FLAGS,
    RUNTIME,
    SOURCE,
    cores,
    fingerprint,
    header,
    image,
    kinds_of,
    layout,
    layout_header,
)
from pymodels import generated
from pymodels.costs.compile import compiler_version, write
from pymodels.costs.sources import FOLDERS
from pymodels.costs.targets import LANAI
from pymodels.errors import SanlabError
from pymodels.lanai.disassemble import listing
from pymodels.lanai.elf import Object
from pymodels.lanai.image import Image
from pymodels.lanai.link import link
from pymodels.lanai.toolchain import COMPILER, CompileError, compiled
from pymodels.roots import TREE, roots


def library(flags: Sequence[str]) -> list[Object]:
    """Return the start-up code and the functions of the run-time library, which `link` selects from."""
    target = [flag for flag in flags if flag.startswith("--target")]
    begin = compiled(RUNTIME / "crt0.S", target, TREE)
    return [begin, *(compiled(one, flags, TREE) for one in sorted(RUNTIME.glob("*.c")))]


def build(layer: str, kind: str) -> Image:
    """Compile and link a layer's firmware for one kind of NIC. Raises CompileError or LinkError."""
    version = compiler_version()
    if version is None:
        raise CompileError(COMPILER, "is not installed", f"apt-get install {COMPILER}, or use the committed image")
    source = image(layer, kind).parent / SOURCE
    root = next(root for root in roots() if source.is_relative_to(root))
    with tempfile.TemporaryDirectory() as made:
        Path(made, "layout.h").write_text(layout_header(layer), encoding="utf-8")
        Path(made, header(kind).name).write_text(cores()[kind].header(), encoding="utf-8")
        folders = [*(f"-I{os.path.relpath(one, root)}" for one in FOLDERS), f"-I{made}"]
        program = compiled(source, [*FLAGS, *folders], root)
    begin, *rest = library(LANAI.flags)
    end = layout(layer)["PROGRAM_END"]
    facts = {
        "layer": layer,
        "kind": kind,
        "compiler": version,
        "flags": " ".join(LANAI.flags),
        "sources_sha256": fingerprint(layer, kind),
    }
    return Image(link([begin, program], rest, sram_bytes=end), facts)


def _write(path: Path, text: str, check: bool) -> bool:
    """Write a generated file, or with `check` compare it. Return False if the committed file is stale."""
    same = generated.found(path) == text
    if not same and not check:
        write(path, text)
    shown = path.relative_to(TREE) if path.is_relative_to(TREE) else path
    print(f"{shown}: {'as committed' if same else 'differs' if check else 'written'}")
    return same or not check


def run(layer: str, check: bool) -> int:
    """Build the images of a layer. Return the number of stale images (with `check`)."""
    texts = {kind: build(layer, kind).text(f"make firmware LAYER={layer}") for kind in kinds_of(layer)}
    return sum(not _write(image(layer, kind), text, check) for kind, text in texts.items())


def headers(check: bool) -> int:
    """Write the register header of every kind. Return the number of stale headers (with `check`)."""
    return sum(not _write(header(kind), core.header(), check) for kind, core in cores().items())


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab firmware", description="Compile the C firmware of a message layer.")
    parser.add_argument("--check", action="store_true", help="compare with the committed image, write nothing")
    parser.add_argument("--list", metavar="KIND", help="print the code of the committed image for a kind of NIC")
    parser.add_argument("--headers", action="store_true", help="write the registers of every kind as C")
    parser.add_argument("layer", nargs="?", default="", help="name of a layer")
    options = parser.parse_args(arguments)
    try:
        if options.list:
            print("\n".join(listing(Image.load(image(options.layer, options.list)).program)))
            return 0
        return 1 if (headers(options.check) if options.headers else run(options.layer, options.check)) else 0
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
