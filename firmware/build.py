"""The C firmware of the NICs: `firmware.c` beside a layer's `paths.c`, to an image for each kind of NIC.

Usage: `python -m firmware.build LAYER` compiles, links and writes `firmware.<kind>.toml` beside the source, for each
kind that has one there (an empty file asks for one; where there is none, for the default kind). `--check` compares
instead; `--list KIND` prints the code with its source lines; `--headers` writes the registers of every kind.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from firmware.images import SOURCE, cores, image, kinds_of
from pymodels.costs.compile import compiler_version, write
from pymodels.costs.targets import LANAI
from pymodels.errors import SanlabError
from pymodels.lanai.disassemble import listing
from pymodels.lanai.elf import Object
from pymodels.lanai.image import Image
from pymodels.lanai.link import link
from pymodels.lanai.toolchain import COMPILER, CompileError, compiled
from pymodels.roots import TREE, place, roots

FIRMWARE = TREE / "firmware"
RUNTIME = FIRMWARE / "runtime"
HEADER = "lanai.h"
NICS = "firmware/nics"


def header(kind: str) -> Path:
    """The generated header of a kind."""
    return place(f"{NICS}/{kind}/{HEADER}")


def library(flags: Sequence[str]) -> list[Object]:
    """The start-up code, then the run-time library, from which `link` takes the functions that are needed."""
    target = [flag for flag in flags if flag.startswith("--target")]
    begin = compiled(RUNTIME / "crt0.S", target, TREE)
    return [begin, *(compiled(one, flags, TREE) for one in sorted(RUNTIME.glob("*.c")))]


def layout(layer: str) -> dict[str, int]:
    """The SRAM addresses: the numbers of the layer's `layout.py`, among them `PROGRAM_END`."""
    module = importlib.import_module(f"firmware.nic.{layer}.layout")
    return {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, int)}


def layout_header(layer: str) -> str:
    """The same as a header, `layout.h`."""
    rows = (f"    AT_{name} = {value:#x}," for name, value in layout(layer).items())
    return "\n".join(["/* From layout.py. */", "enum {", *rows, "};"]) + "\n"


def sources(layer: str, kind: str) -> Iterator[bytes]:
    """The sources that determine the words of an image, in an order that does not depend on where the roots are."""
    own = image(layer, kind).parent.glob("*.[ch]")
    shared = [FIRMWARE / "paths.h", *(FIRMWARE / "nic/hardware").glob("*.h"), *RUNTIME.glob("*.[chS]")]
    for path in (*sorted(own), *sorted(shared), header(kind)):
        yield path.read_bytes().replace(b"\r\n", b"\n")
    yield layout_header(layer).encode()


def fingerprint(layer: str, kind: str) -> str:
    """SHA-256 over them, so that a stale image shows without a compiler."""
    digest = hashlib.sha256()
    for text in sources(layer, kind):
        digest.update(text + b"\0")
    return digest.hexdigest()


def build(layer: str, kind: str) -> Image:
    """Compile and link a layer's firmware. Raises CompileError or LinkError."""
    version = compiler_version()
    if version is None:
        raise CompileError(COMPILER, "is not installed", f"apt-get install {COMPILER}, or use the committed image")
    source = image(layer, kind).parent / SOURCE
    root = next(root for root in roots() if source.is_relative_to(root))
    with tempfile.TemporaryDirectory() as made:
        Path(made, "layout.h").write_text(layout_header(layer), encoding="utf-8")
        folders = [f"-I{os.path.relpath(folder, root)}" for folder in (FIRMWARE, header(kind).parent)]
        program = compiled(source, [*LANAI.flags, "-DEXECUTED", *folders, f"-I{made}"], root)
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
    """Write a generated file, or with `check` compare it; False: it is stale."""
    same = path.exists() and path.read_text(encoding="utf-8") == text
    if not same and not check:
        write(path, text)
    shown = path.relative_to(TREE) if path.is_relative_to(TREE) else path
    print(f"{shown}: {'as committed' if same else 'differs' if check else 'written'}")
    return same or not check


def run(layer: str, check: bool) -> int:
    """Build the images of a layer. Returns how many are stale, with `check`."""
    texts = {kind: build(layer, kind).text(f"make firmware LAYER={layer}") for kind in kinds_of(layer)}
    return sum(not _write(image(layer, kind), text, check) for kind, text in texts.items())


def headers(check: bool) -> int:
    """Write the registers of every kind. Returns how many headers are stale, with `check`."""
    return sum(not _write(header(kind), core.header(), check) for kind, core in cores().items())


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code."""
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
