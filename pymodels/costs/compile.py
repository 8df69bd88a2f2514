"""Compilation and counting of the paths of every message layer: firmware/<layer>/<side>/paths.c to costs.toml beside
it.

Usage: `python -m pymodels.costs.compile` writes every costs.toml, one for each processor that runs the layer, and an
executed.toml for the LANai. `--check` compares instead, and exits with 1 if one is stale. `--show echo/nic send` prints
the counted instructions of a path.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pymodels import generated
from pymodels.costs import compositions, executed
from pymodels.costs.assembly import CostError, Function, functions
from pymodels.costs.sources import FOLDERS, by_hand, command, fingerprint
from pymodels.costs.targets import TARGETS, Target, targets_of
from pymodels.costs.walk import PathCost, explain, walk
from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.fingerprints import remake
from pymodels.generated import BYHAND
from pymodels.roots import files_by_name, roots

COMPILER = "clang-16"


def layers() -> list[Path]:
    """Return the folders firmware/<layer>/<side> that contain a paths.c, sorted."""
    return sorted(path.parent for side in TARGETS for path in files_by_name("firmware", f"*/{side}/paths.c").values())


def compiler_version() -> str | None:
    """Return the first line of the compiler's version, or None if it is not installed."""
    if shutil.which(COMPILER) is None:
        return None
    done = subprocess.run(
        [COMPILER, "--version"], capture_output=True, encoding="utf-8", errors="replace", check=True, timeout=60
    )
    return done.stdout.splitlines()[0].split(" (", 1)[0]


def assemble(source: Path, target: Target) -> str:
    """Return the assembly of a paths.c. Raises CostError with the compiler's message."""
    command = [COMPILER, *target.flags, *(f"-I{one}" for one in FOLDERS), "-S", source.name, "-o", "-"]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", cwd=source.parent, timeout=120, check=False
    )
    if done.returncode:
        raise CostError(str(source), "does not compile", "\n" + done.stderr.strip())
    return done.stdout


def compiled(folder: Path, target: Target) -> list[Function]:
    """Return the functions of a layer's paths.c, compiled for a processor."""
    found = functions(assemble(folder / "paths.c", target), target.comment, target.decode)
    if not found:
        raise CostError(str(folder / "paths.c"), "has no global function", "write one function per path")
    return found


def counts(folder: Path, target: Target) -> dict[str, PathCost]:
    """Return the cost of every path of a layer on a processor, in the order of the source."""
    return {one.name: walk(one, str(folder / "paths.c"), target.delays) for one in compiled(folder, target)}


def render(folder: Path, target: Target, costs: dict[str, PathCost], compiler: str) -> str:
    """Return the text of a costs.toml."""
    lines = [
        "# Generated from paths.c by `python -m pymodels.costs.compile`; do not edit.",
        "# Per path: instructions executed, loads and stores of memory, uncached accesses (special registers).",
        *(["# stalls: clocks waited for loads whose datum comes 1, 2, ... clocks late."] if target.delays else []),
        "",
        "[compiled]",
        'origin = "compiled"',
        f'target = "{target.name}"',
        f'compiler = "{compiler}"',
        f'flags = "{" ".join(target.flags)}"',
        f'sources_sha256 = "{fingerprint(folder, target)}"',
        "",
        "[path]",
    ]
    return "\n".join([*lines, *_rows(costs)]) + "\n"


def render_composed(folder: Path, target: Target, costs: dict[str, PathCost], compiler: str) -> str:
    """Return the text of a composed.toml, the differences of a layer's compositions from the bare one; empty without
    any.
    """
    if not compositions.declared(folder)[1:]:
        return ""
    lines = [
        "# Generated from paths.c by `python -m pymodels.costs.compile`; do not edit.",
        f"# By composition: paths that differ from those of {target.table}, and paths that it lacks.",
        "",
        "[compiled]",
        f'compiler = "{compiler}"',
        f'sources_sha256 = "{fingerprint(folder, target)}"',
    ]
    for composition in compositions.declared(folder)[1:]:
        changed, lacks = compositions.differences(costs, counts(folder, compositions.composed(target, composition)))
        name = compositions.key(composition)
        lines += ["", f'[composition."{name}"]', f"lacks = [{_quoted(lacks)}]"]
        lines += [f'[composition."{name}".path]', *_rows(changed)]
    return "\n".join(lines) + "\n"


def _rows(costs: Mapping[str, PathCost]) -> list[str]:
    """Return a table row for each path."""
    width, rows = max(map(len, costs), default=0), []
    for name, cost in costs.items():
        fields = {**vars(cost), "stalls": list(cost.stalls)}
        text = ", ".join(f"{key} = {value}" for key, value in fields.items() if key != "stalls" or value)
        rows.append(f"{name:<{width}} = {{ {text} }}")
    return rows


def render_executed(folder: Path, target: Target, compiler: str) -> str:
    """Return the text of an executed.toml."""
    lines = [
        "# Generated from paths.c by `python -m pymodels.costs.compile`; do not edit.",
        "# Per level of optimisation and path: what it counts; its instructions that the verbs issue; the least and",
        "# the most clocks that it takes on the core of each chip (pymodels/costs/executed.py).",
        "",
        "[compiled]",
        f'compiler = "{compiler}"',
        f'sources_sha256 = "{fingerprint(folder, target)}"',
    ]
    bare = {level: _executed(folder, executed.at_level(target, level)) for level in executed.LEVELS}
    for level, paths in bare.items():
        lines += ["", f'["{level}"]', *executed.rows(paths)]
    for composition in compositions.declared(folder)[1:]:
        made, name = compositions.composed(target, composition), compositions.key(composition)
        for level, without in bare.items():
            changed, lacks = compositions.differences(without, _executed(folder, executed.at_level(made, level)))
            if level == executed.LEVELS[0]:
                lines += ["", f'[composition."{name}"]', f"lacks = [{_quoted(lacks)}]"]
            lines += [f'[composition."{name}"."{level}"]', *executed.rows(changed)]
    return "\n".join(lines) + "\n"


def _executed(folder: Path, target: Target) -> dict[str, str]:
    return executed.entries(compiled(folder, target), str(folder / "paths.c"), target)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def write(path: Path, text: str) -> None:
    """Replace a generated file, or its text in `generated.bz2`, atomically: an interrupted run keeps the old one."""
    if generated.is_compressed(path):
        generated.keep(path, text)
        return
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)


def run(check: bool, chosen: Sequence[str] = ()) -> int:
    """Count every layer, or the chosen ones. Return the number of failed tables, including stale ones with `check`."""
    version = compiler_version()
    if version is None:
        raise CostError(
            COMPILER, "is not installed", f"apt-get install {COMPILER}, or leave the committed costs.toml as they are"
        )
    tables = [(folder, target) for folder in _chosen(chosen) for target in targets_of(folder)]
    return sum(not _counted(folder, target, version, check) for folder, target in tables)


def _chosen(names: Sequence[str]) -> list[Path]:
    """Return the folders of the named layers, or of all. Raises ConfigError for a layer without paths.c."""
    known = {folder.parent.name for folder in layers()}
    for name in names:
        if name not in known:
            raise ConfigError(
                "LAYER", 0, f"unknown layer {name!r}", "no layer of this name has paths.c", nearest(name, known)
            )
    return [folder for folder in layers() if not names or folder.parent.name in names]


def _counted(folder: Path, target: Target, version: str, check: bool) -> bool:
    """Count a layer on a processor and print the outcome. Return False if it failed or, with `check`, a table is
    stale.
    """
    name = f"{folder.parent.name}/{folder.name} ({target.name})"
    try:
        texts = _rendered(folder, folder, target, version)
        if target.delays:
            texts[folder / executed.TABLE] = render_executed(folder, target, version)
        if (hand := by_hand(folder)).is_dir():
            texts |= _rendered(hand, folder.parent / BYHAND / folder.name, target, version)
    except CostError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    kept = [_kept(name, path, text, check) for path, text in texts.items()]
    return all(kept)


def _rendered(folder: Path, tables: Path, target: Target, version: str) -> dict[Path, str]:
    """Return the texts of the tables of a folder's paths on a processor, by path in the folder `tables`."""
    counted = counts(folder, target)
    texts = {tables / target.table: render(folder, target, counted, version)}
    if composed := render_composed(folder, target, counted, version):
        texts[tables / target.composed] = composed
    return texts


def _kept(name: str, path: Path, text: str, check: bool) -> bool:
    """Write a table, or with `check` compare it, and print the outcome. Return False if it is stale."""
    same = generated.found(path) == text
    if not same and check:
        print(f"{path}: is stale; run {remake(command(path), path)}", file=sys.stderr)
    elif not same:
        write(path, text)
    name = f"{name}, {BYHAND}" if path.parts[-3] == BYHAND else name
    print(f"{name}, {path.name}: {'as committed' if same else 'differs' if check else 'written'}")
    return same or not check


def show(layer: str, path: str, composition: str = "") -> None:
    """Print the counted instructions of a path in a composition."""
    known = {f"{folder.parent.name}/{folder.name}": folder for folder in layers()}
    if layer not in known:
        raise CostError(f"layer {layer!r}", "has no paths.c", nearest(layer, known))
    parts = {compositions.key(one): one for one in compositions.declared(known[layer])}
    chosen = compositions.key(filter(None, composition.split("+")))
    if chosen not in parts:
        raise CostError(f"composition {chosen!r}", f"is not compiled for {layer}", nearest(chosen, parts))
    for processor in targets_of(known[layer]):
        target = compositions.composed(processor, parts[chosen])
        found = {one.name: one for one in compiled(known[layer], target)}
        if path in found:
            print("\n".join(explain(found[path], layer)))
            print(f"{target.name}: {walk(found[path], layer, target.delays)}")
        elif processor is targets_of(known[layer])[0]:
            raise CostError(f"path {path!r}", f"is not in {layer}/paths.c", nearest(path, found))


def generated_texts(layer: str) -> str:
    """Return the texts of the `generated.bz2` of a layer. Raises CostError for a layer without one."""
    known: dict[str, list[Path]] = {}
    for root in roots():
        for archive in sorted((root / "firmware").rglob(generated.NAME)):
            known.setdefault(archive.parent.name, []).append(archive)
    if layer not in known:
        raise CostError(f"layer {layer!r}", f"has no {generated.NAME}", nearest(layer, known))
    texts = [text for archive in known[layer] for text in generated.texts(archive).items()]
    return "".join(f"==== {name}\n{text}" for name, text in texts)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab costs", description="Count compiled instruction paths.")
    parser.add_argument("--check", action="store_true", help="compare with the committed costs.toml, write nothing")
    parser.add_argument("--show", nargs=2, metavar=("LAYER/SIDE", "PATH"), help="print the instructions a path counts")
    parser.add_argument("--composition", default="", metavar="PART+PART", help="with --show, what it is composed of")
    parser.add_argument("--print", metavar="LAYER", help="print the generated tables and images of a layer")
    parser.add_argument("layers", nargs="*", help="names of layers (default: all)")
    options = parser.parse_args(arguments)
    try:
        if options.show:
            layer, path = options.show
            show(layer, path, options.composition)
            return 0
        if options.print:
            print(generated_texts(options.print), end="")
            return 0
        return 1 if run(options.check, options.layers) else 0
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
