"""Rejection of costs and images that were made from other C sources than those next to them.

Strategy: tokens are compared for texts that differ in one place. `sanlab new` writes a layer to a separate root, and
one source at a time is changed there; a new process then plans a run of the layer.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.fingerprints import StaleError, check, fingerprint, tokens, with_included
from pymodels.roots import TREE
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.sanlab.new import write
from tb.tools.paths import SIMULATORS

PLAN = """
import sys
from pymodels.errors import SanlabError
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.sanlab.new import write
try:
    plan(resolve("copied_pingpong", "verilator", "1", False, "", sys.argv[1], sys.argv[2], ("verilator",)),
         studies.load("copied_pingpong"))
    print("planned")
except SanlabError as error:
    print(f"{error.exit_code} {error}")
"""
CODE = 'int a = 1; /* one */\n#define F(x) ((x) + 1)\nchar *s = "a /* b */ // c";\n'


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("/* one */", "// another one"),
        CODE.replace("/* one */", "/* two\n lines */"),
        CODE.replace("int a", "\n\n  int\n\ta"),
        CODE.replace("((x)", "  ( (x)").replace("#define", "  #  define").replace("#  d", "# d"),
        CODE.replace("((x) + 1)", "((x) \\\n + 1)"),
        CODE.replace("\n", "\r\n").replace("\r\n", "\n"),
    ],
)
def test_comments_and_white_space_leave_the_fingerprint(same: str) -> None:
    assert [one.replace("# define", "#define") for one in tokens(same)] == tokens(CODE)


def test_comments_of_assembly_leave_the_fingerprint() -> None:
    code = '.long 1\t! a word\n.ascii "no! comment"\n'
    assert tokens(code, by_line=True) == tokens('! begin\n.long 1 ! another\n\n.ascii "no! comment"\n', by_line=True)
    assert tokens(code, by_line=True) != tokens(code.replace("no! ", "no! other "), by_line=True)


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace("a = 1", "a = 2"),
        CODE.replace("F(x)", "F (x)"),
        CODE.replace("a /* b */", "a /* c */"),
        CODE.replace("+ 1)\n", "+ 1) "),
        CODE.replace("int a", "inta"),
        CODE + "this is not C at all\n",
    ],
)
def test_every_change_of_a_token_changes_the_fingerprint(other: str) -> None:
    assert tokens(other) != tokens(CODE)


def test_operators_are_not_joined_or_split() -> None:
    assert tokens("a+ +b") != tokens("a++b")
    assert tokens("a - > b") != tokens("a->b")
    assert tokens("1.5e+3f+x") == ["1.5e+3f", "+", "x"]


def test_an_included_file_counts_by_its_name_and_not_by_its_folder() -> None:
    one = tokens('#include "../../nics/fifo/words.h"\n')
    assert one == tokens('#include "../../nics/toy/words.h"\n') != tokens('#include "../../nics/fifo/cells.h"\n')


def test_lines_of_assembly_are_kept_apart() -> None:
    assert tokens("nop\nnop", by_line=True) != tokens("nop nop", by_line=True)
    assert tokens("nop // a\n\n\n nop", by_line=True) == tokens("nop\nnop", by_line=True)


def test_included_files_are_found_wherever_they_are_and_their_order_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    for name, text in {"a.c": '# include  "b.h"', "b.h": '#include "c.h"', "far/c.h": "int c;", "far/d.h": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = with_included([tmp_path / "a.c"], [tmp_path / "far"])
    assert {path.name for path in found} == {"a.c", "b.h", "c.h"}
    assert fingerprint(found) == fingerprint(reversed(found)) != fingerprint(found[1:])
    assert fingerprint(found) != fingerprint(found, ["-O2"])


def test_the_message_names_the_command(tmp_path: Path) -> None:
    check(tmp_path / "x.toml", {"sources_sha256": "a"}, "a", "costs mine")
    with pytest.raises(StaleError, match=r"generate it again: `sanlab costs mine` \(needs clang-16\)"):
        check(tmp_path / "x.toml", {"sources_sha256": "a"}, "b", "costs mine")
    with pytest.raises(StaleError, match=r"^firmware/mine/nic/costs\.toml: .* `make costs LAYER=mine` "):
        check(TREE / "firmware/mine/nic/costs.toml", {}, "b", "costs mine")


@pytest.mark.parametrize(
    ("study", "table"),
    [
        ("echo_pingpong", "common/nic/costs.toml"),
        ("mpi_pingpong", "mpi/host/costs.toml"),
        ("mpi_pingpong", "grim/host/costs.toml"),
        ("executed_costs", "via/nic/executed.toml"),
        ("epos_compose", "epos/byhand/nic/costs.toml"),
        ("epos_compose", "epos/byhand/host/costs.toml"),
        ("host_polling", "echo/host/costs.toml"),
        ("tpil", "tpil/host/costs.toml"),
    ],
)
def test_every_table_that_a_study_reads_is_compared_before_the_build(
    study: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(file: Path, compiled: object, now: str, command: str) -> None:
        if str(file).endswith(table):
            raise StaleError(table, "is stale", command)

    monkeypatch.setattr("pymodels.fingerprints.check", stale)
    info = studies.load(study)
    request = resolve(study, "verilator", "1", False, info.cluster or "", "", "", SIMULATORS)
    with pytest.raises(StaleError, match=f"{table}: is stale; costs "):
        plan(request, info)


@pytest.fixture(name="mine", scope="module")
def fixture_mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a root with the layer that `sanlab new layer copied --firmware=c` writes."""
    root = tmp_path_factory.mktemp("root") / "mylab"
    write("copied", root, in_c=True, tests=False)
    return root


def planned(root: Path, settings: str, profile: str = "lanai9") -> str:
    env = {**os.environ, "SANLAB_PATH": str(root), "PYTHONPATH": str(TREE)}
    done = subprocess.run(
        [sys.executable, "-c", PLAN, profile, settings], env=env, encoding="utf-8", capture_output=True, check=False
    )
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize("settings", ["", "nic.firmware=c"])
def test_a_new_layer_runs_with_the_costs_and_images_of_its_template(mine: Path, settings: str) -> None:
    assert planned(mine, settings) == "planned"


COSTS, IMAGE = "`sanlab costs copied`", "`sanlab firmware copied`"


@pytest.mark.parametrize(
    ("source", "settings", "stale", "command"),
    [
        ("copied/nic/paths.c", "", "copied/nic/costs.toml", COSTS),
        ("copied/host/paths.c", "", "copied/host/costs.toml", COSTS),
        ("copied/nic/firmware.c", "nic.firmware=c", "copied/nic/firmware.lanai9.toml", IMAGE),
        ("copied/nic/firmware.c", "nic.firmware=c,python", "copied/nic/firmware.lanai9.toml", IMAGE),
        ("copied/nic/firmware.c", "", "", ""),
        ("copied/nic/layout.py", "nic.firmware=c", "copied/nic/firmware.lanai9.toml", IMAGE),
    ],
)
def test_run_on_outputs_of_a_changed_source_is_stopped(
    mine: Path, tmp_path: Path, source: str, settings: str, stale: str, command: str
) -> None:
    root = shutil.copytree(mine, tmp_path / "mylab")
    with (root / "firmware" / source).open("a", encoding="utf-8") as file:
        file.write("\nNEW = 5\n" if source.endswith(".py") else "\nthis is not C at all\n")
    said = planned(root, settings)
    if not stale:
        assert said == "planned", "firmware that is not executed may be incomplete"
        return
    assert said.startswith(f"2 {root}/firmware/{stale}: was generated from other C sources")
    assert command in said


@pytest.mark.parametrize("source", ["copied/nic/paths.c", "copied/host/paths.c", "copied/nic/firmware.c"])
def test_a_corrected_comment_needs_no_compiler(mine: Path, tmp_path: Path, source: str) -> None:
    root = shutil.copytree(mine, tmp_path / "mylab")
    with (root / "firmware" / source).open("a", encoding="utf-8") as file:
        file.write("\n/* Another comment. */\n")
    assert planned(root, "nic.firmware=c") == "planned"


def test_sources_that_were_removed_stop_a_run(mine: Path, tmp_path: Path) -> None:
    root = shutil.copytree(mine, tmp_path / "mylab")
    (root / "firmware/copied/host/paths.c").unlink()
    assert planned(root, "").startswith(f"2 {root}/firmware/copied/host/costs.toml: was generated from other C sources")


def test_tables_of_every_processor_are_compared(mine: Path, tmp_path: Path) -> None:
    root = shutil.copytree(mine, tmp_path / "mylab")
    table = root / "firmware/copied/host/costs.powerpc.toml"
    table.write_text(re.sub(r'sha256 = "\w', 'sha256 = "z', table.read_text(encoding="utf-8")), encoding="utf-8")
    assert planned(root, "") == "planned"
    assert planned(root, "", "lanai9+ppc604-332").startswith(f"2 {table}: was generated from other C sources")
