"""Things named on pages exist: commands, studies, benches, settings, files, links, quoted code.

Strategy: every Markdown page of the checkout is read as text. Its commands are compared with the targets and variables
of the Makefile, and settings with those of profile and study. Studies and benches are compared with their names. Named
files must exist, and code must be in the file that its block names. Figures are not tested: the command beside each
reprints it. Pages made up with one mistake each show that the checks can fail.
"""

from __future__ import annotations

import ast
import functools
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from pymodels import generated
from pymodels.config.find import find_config
from pymodels.errors import SanlabError
from pymodels.profiles import DEFAULT_PROFILE, load_profile
from pymodels.profiles.profile import parse_settings
from tb.fpga.board_kinds import BOARDS
from tb.plan import studies
from tb.plan.request import RUN_OPTIONS
from tb.run import block_bench
from tb.sanlab.command import COMMANDS
from tb.tools.paths import ROOT, SIMULATORS

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
GENERATED = {
    "alltoall.goal",
    "loggopsim.sh",
    "loggp.txt",
    "calls.c",
    "frame.png",
    "tpil.h",
    "tpil.toml",
    "mpi.h",
    "program-0.txt",
    "legend.json",
    "failures.txt",
    "stuck.txt",
}
"""Files that a run leaves."""
MADE_UP = {
    "my_study",
    "my_package.my_study",
    "mine_pingpong",
    "ours_pingpong",
    "dgram_pingpong",
    "echo_gap",
    "grim_pinpong",
    "lanai9+p3-800",
    "my_study.py",
    "charged_mine.py",
    "p3-800.toml",
    "lanai9-200.toml",
}
"""Files that a page instructs the reader to make."""
READERS = (
    "mylab/",
    "firmware/dgram/",
    "tb/studies/dgram/",
    "tests/unit/dgram/",
    "sweeps.py",
    "ring.c",
    "try_ring.py",
    "pyproject-mylab.toml",
    "tb/studies/echo/echo_gap.py",
)
"""Folders and files of a page's reader."""
FOUND_BY_NAME = ("hdl/nic", "firmware")
"""Folders of NICs and layers, whose own pages need no link: the pages above say where they are."""
FOLDERS = ("hdl", "pymodels", "firmware", "tb", "tests")
FILE = re.compile(r"[\w.*<>+/-]+\.(?:py|sv|svh|c|h|cpp|f|toml|md|sh|txt|css|vlt|rules|waivers)")
FOLDER = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w.*<>/-]*|[\w<>-][\w<>/-]*/")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")


def visible(path: Path) -> bool:
    """Return whether a file belongs to the checkout, and is not left there by tools."""
    parts = path.relative_to(ROOT).parts
    return "sim_build" not in parts and not any(part.startswith(".") or part == "__pycache__" for part in parts)


@functools.cache
def files() -> frozenset[str]:
    """List the files of the checkout, relative to it."""
    tops = [ROOT / name for name in FOLDERS]
    found = [path for top in tops for path in top.rglob("*") if path.is_file() and visible(path)]
    return frozenset(path.relative_to(ROOT).as_posix() for path in [*found, *ROOT.glob("*.*"), ROOT / "LICENSE"])


@functools.cache
def compressed() -> frozenset[str]:
    """List the texts that are kept in a `generated.bz2`, by the paths that they would have as files."""
    archives = [ROOT / name for name in files() if name.endswith(f"/{generated.NAME}")]
    paths = [archive.parent / name for archive in archives for name in generated.texts(archive)]
    return frozenset(path.relative_to(ROOT).as_posix() for path in paths)


PAGES = sorted(ROOT / name for name in files() if name.endswith(".md"))
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def spans(page: Path) -> list[str]:
    """Return the texts between single backquotes, outside of code blocks."""
    return SPAN.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the command lines of a page, in text or in a block of shell, as words."""
    shell = [text for language, text in BLOCK.findall(page.read_text(encoding="utf-8")) if language == "sh"]
    for line in [*spans(page), *(line for text in shell for line in text.splitlines())]:
        if line.startswith(("make", ".venv/bin/", "python -m", "sanlab ")):
            yield shlex.split(line, comments=True)


def exists(token: str, page: Path) -> bool:
    """Return whether a file or folder named on a page exists: from the root, from the page, or as the end of a path."""
    if "sim_build" in token or token in GENERATED or Path(token).name in MADE_UP or token.startswith(READERS):
        return True
    pattern = re.sub(r"<[^>]*>", "*", token).rstrip("/")
    if any(any(folder.glob(pattern)) for folder in (ROOT, page.parent)) or (page.parent / pattern).exists():
        return True
    end = re.compile(f"(?:.*/)?{re.escape(pattern).replace(re.escape('*'), '[^/]*')}")
    return any(end.fullmatch(name) for name in (*files(), *compressed()))


def heading_anchor(heading: str) -> str:
    """Return a heading as the anchor of a link to it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def known_settings(study: str, settings: Mapping[str, str] = MappingProxyType({})) -> set[str]:
    """Return the settings that a study takes beside those of a profile."""
    return {*RUN_OPTIONS, *studies.load(study).chosen(settings).options}


def check_make(words: list[str]) -> None:
    """Check that each word of a make command has a meaning."""
    targets = re.findall(r"^([a-z0-9-]+):.*## ", MAKEFILE, re.MULTILINE)
    variables = re.findall(r"^## (\w+)=", MAKEFILE, re.MULTILINE)
    given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    assert set(given) <= set(variables)
    assert {word for word in words[1:] if "=" not in word} <= set(targets)
    real = {name: value for name, value in given.items() if "<" not in value and value not in MADE_UP}
    study = real.get("STUDY", studies.names()[0])
    assert study in studies.names() or f"{study.replace('.', '/')}.py" in files()
    assert real.get("BENCH", block_bench.names()[0]) in block_bench.names()
    assert real.get("SIM", SIMULATORS[0]) in (*SIMULATORS, *["1"] * ("board" in words))
    assert real.get("BOARD", "ulx3s") in BOARDS
    profile = load_profile(real.get("PROFILE", DEFAULT_PROFILE))
    if "CLUSTER" in real:
        find_config(real["CLUSTER"], {})
    if "SET" in real and "STUDY" in real:
        settings = parse_settings(real["SET"])
        options = studies.load(real["STUDY"]).chosen(settings).options
        profile.override(settings, known_settings(real["STUDY"], settings))
        for name in settings.keys() & options.keys():
            options[name].parse(name, settings[name])


@EACH_PAGE
def test_commands_on_pages_exist(page: Path) -> None:
    for words in commands(page):
        if words[0] == "make":
            check_make(words)
        elif words[0].endswith("sanlab"):
            assert {*words[1:2]} <= {*COMMANDS, "COMMAND", "--help"}, words
        elif "-m" in words and (module := words[words.index("-m") + 1]) != "pytest":
            place = module.replace(".", "/")
            assert {f"{place}.py", f"{place}/__main__.py"} & files(), words


@EACH_PAGE
def test_named_files_and_folders_exist(page: Path) -> None:
    named = [token for token in spans(page) if FILE.fullmatch(token) or FOLDER.fullmatch(token)]
    assert [token for token in named if not exists(token, page)] == []


@EACH_PAGE
def test_links_have_targets(page: Path) -> None:
    for target in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith("https://"):
            continue
        place, _, anchor = target.partition("#")
        path = (page.parent / place) if place else page
        assert path.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(heading_anchor, headings), target


@EACH_PAGE
def test_quoted_code_is_in_its_file(page: Path) -> None:
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        first, _, rest = text.partition("\n")
        quoted = re.fullmatch(r"(?:#|//) ([\w/.-]+\.\w+)", first)
        if quoted:
            source = (ROOT / quoted[1]).read_text(encoding="utf-8")
            for piece in re.split(r"^\.\.\.\n", rest, flags=re.MULTILINE):
                assert piece.strip("\n") in source, f"not in {quoted[1]}:\n{piece}"
        elif language == "python":
            compile(text, page.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_page_of_layers_quotes_code() -> None:
    text = (ROOT / "firmware" / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^```\w+\n(?:#|//) [\w/.-]+\.\w+\n", text, re.MULTILINE)) >= 6


def test_every_study_and_every_bench_is_on_a_page() -> None:
    told = set().union(*(spans(page) for page in PAGES)) | {word for page in PAGES for word in run_on(page)}
    missing = {*studies.names(), *block_bench.names()} - told
    where = "the page of its NIC or layer, tb/studies/README.md or tests/README.md"
    assert not missing, f"name these on {where}: {', '.join(sorted(missing))}"


def run_on(page: Path) -> Iterator[str]:
    """Yield the studies and benches that the commands of a page run."""
    for words in commands(page):
        yield from (word.partition("=")[2] for word in words if word.startswith(("STUDY=", "BENCH=")))


def linked(page: Path) -> set[Path]:
    """Return the pages that a page links."""
    targets = (target.partition("#")[0] for target in LINK.findall(page.read_text(encoding="utf-8")))
    return {found for target in targets if (found := (page.parent / target).resolve()).suffix == ".md"}


def test_every_page_is_linked_from_the_main_one() -> None:
    found_by_name = [page for folder in FOUND_BY_NAME for page in ROOT.glob(f"{folder}/*/README.md")]
    reached, new = set[Path](), {ROOT / "README.md", *found_by_name}
    while new:
        reached |= new
        new = {page for one in new for page in linked(one) if page in PAGES} - reached
    missing = [str(page) for page in PAGES if page not in reached and page.name == "README.md"]
    assert not missing, f"link these in the map of README.md, or in a page that it links: {', '.join(missing)}"


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("`make tset`", test_commands_on_pages_exist),
        ("`make run STUDDY=echo_pingpong`", test_commands_on_pages_exist),
        ("```sh\nmake run STUDY=echo_pingpang\n```\n", test_commands_on_pages_exist),
        ('`make run STUDY=echo_pingpong SET="repetition=3"`', test_commands_on_pages_exist),
        ("`make sim BENCH=fofi`", test_commands_on_pages_exist),
        ("`.venv/bin/python -m pymodels.cost.compile`", test_commands_on_pages_exist),
        ("`.venv/bin/sanlab study`", test_commands_on_pages_exist),
        ("`tb/no_such_file.py`", test_named_files_and_folders_exist),
        ("`hdl/nowhere/`", test_named_files_and_folders_exist),
        ("[page](nowhere.md)", test_links_have_targets),
        ("[here](#no-such-heading)", test_links_have_targets),
        ("```python\n# tb/lab/lab.py\nclass Laboratory:\n```\n", test_quoted_code_is_in_its_file),
        ("```python\ndef f(:\n```\n", test_quoted_code_is_in_its_file),
    ],
)
def test_missing_targets_are_detected(text: str, check: Callable[[Path], None], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, SanlabError, SyntaxError)):
        check(page)
