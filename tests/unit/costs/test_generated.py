"""Compressed storage of generated tables and images.

Strategy: texts are stored, replaced and read in a temporary folder. Compressing each committed `generated.bz2` again
must give the same bytes. Each kind of damage must be detected: truncation, flipped bits, an empty file, other text.
"""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest

from pymodels import generated
from pymodels.costs import PathTable
from pymodels.costs.compile import generated_texts, main
from pymodels.costs.executed import load
from pymodels.costs.sources import by_hand, check, fingerprint
from pymodels.costs.targets import LANAI
from pymodels.costs.walk import PathCost
from pymodels.fingerprints import StaleError
from pymodels.generated import NAME, GeneratedError
from pymodels.lanai.image import Image, ImageError
from tb.tools.paths import ROOT

ARCHIVES = sorted((ROOT / "firmware").rglob(NAME))
each_archive = pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: str(path.parent.relative_to(ROOT)))


@each_archive
def test_same_texts_give_the_committed_bytes(archive: Path) -> None:
    assert generated.packed(generated.texts(archive)) == archive.read_bytes()


@each_archive
def test_no_committed_text_is_a_file_too(archive: Path) -> None:
    for name in generated.texts(archive):
        assert generated.is_compressed(Path(name)) and not (archive.parent / name).exists()


def test_no_generated_table_or_image_is_committed_as_text() -> None:
    assert [path for path in (ROOT / "firmware").rglob("*.toml") if generated.is_compressed(path)] == []


def test_text_is_kept_in_the_file_of_the_layer_and_found_by_its_path(tmp_path: Path) -> None:
    nic, host = tmp_path / "toy" / "nic" / "executed.toml", tmp_path / "toy" / "host" / "composed.toml"
    nic.parent.mkdir(parents=True)
    generated.keep(nic, "a = 1\n")
    generated.keep(host, "b = 2\n")
    generated.keep(nic, "a = 3\n")
    assert generated.texts(tmp_path / "toy" / NAME) == {"host/composed.toml": "b = 2\n", "nic/executed.toml": "a = 3\n"}
    assert (generated.found(nic), generated.table(host)) == ("a = 3\n", {"b": 2})
    assert generated.found(nic.with_name("firmware.lanai9.toml")) is None
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [NAME]


def test_order_of_writing_does_not_change_the_bytes(tmp_path: Path) -> None:
    for folder, order in ((tmp_path / "a", (0, 1)), (tmp_path / "b", (1, 0))):
        folder.mkdir()
        for at in order:
            generated.keep(folder / ("executed.toml", "firmware.x.toml")[at], f"a = {at}\n")
    assert (tmp_path / "a" / NAME).read_bytes() == (tmp_path / "b" / NAME).read_bytes()


def test_file_beside_is_used_in_place_of_the_kept_text_until_it_is_generated(tmp_path: Path) -> None:
    file = tmp_path / "firmware.lanai4.toml"
    generated.keep(file, "old = 1\n")
    file.write_text("", encoding="utf-8")
    assert generated.found(file) == ""
    generated.keep(file, "new = 2\n")
    assert not file.exists() and generated.found(file) == "new = 2\n"


def damaged(content: bytes, how: str) -> bytes:
    return {
        "cut off": content[:-7],
        "flipped": content[:40] + bytes([content[40] ^ 4]) + content[41:],
        "empty": b"",
        "not compressed": b"[program]\n",
        "other text": bz2.compress(b"no head\n"),
        "not UTF-8": bz2.compress(b"==== a\n\xff\n"),
    }[how]


@pytest.mark.parametrize("how", ["cut off", "flipped", "empty", "not compressed", "other text", "not UTF-8"])
def test_damaged_file_is_an_error_that_names_it(tmp_path: Path, how: str) -> None:
    file = tmp_path / "executed.toml"
    generated.keep(file, "a = 1\n" * 50)
    archive = tmp_path / NAME
    archive.write_bytes(damaged(archive.read_bytes(), how))
    with pytest.raises(GeneratedError) as error:
        generated.table(file)
    assert str(error.value).startswith(f"{archive}: is damaged (") and error.value.exit_code == 2
    remedy = "take the committed one, or remove it and run `sanlab costs` and `sanlab firmware` for the layer"
    assert str(error.value).endswith(f"; {remedy}")
    with pytest.raises(GeneratedError):
        generated.keep(file, "a = 2\n")


def test_missing_text_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(GeneratedError, match=rf"{tmp_path}/{NAME}: has no executed\.toml; generate it: `sanlab costs`"):
        generated.table(tmp_path / "executed.toml")
    with pytest.raises(ImageError, match=r"firmware\.lanai9\.toml: is missing; make it"):
        Image.load(tmp_path / "firmware.lanai9.toml")


def test_text_that_looks_like_the_head_of_another_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"executed\.toml: a line begins with ===="):
        generated.keep(tmp_path / "executed.toml", 'a = """\n==== b\n"""\n')
    assert not (tmp_path / NAME).exists()


def test_table_of_compositions_is_read_with_the_costs(tmp_path: Path) -> None:
    folder = tmp_path / "toy" / "nic"
    folder.mkdir(parents=True)
    costs = '[compiled]\norigin = "compiled"\n[path]\nsend = { instructions = 4 }\n'
    (folder / "costs.toml").write_text(costs, encoding="utf-8")
    others = '[compiled]\n[composition."flow"]\nlacks = []\n[composition."flow".path]\nsend = { instructions = 9 }\n'
    generated.keep(folder / "composed.toml", others)
    assert PathTable.load("nic", "toy", tmp_path).paths == {"send": PathCost(4)}
    assert PathTable.load("nic", "toy", tmp_path, composition=["flow"]).paths == {"send": PathCost(9)}


def test_texts_are_printed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print", "grim"]) == 0
    shown = capsys.readouterr().out
    assert shown == generated_texts("grim")
    assert {"executed.toml", "firmware.lanai4.toml", "firmware.lanai9.toml"} <= {
        line.removeprefix("==== ").removeprefix("nic/") for line in shown.splitlines() if line.startswith("==== ")
    }
    assert load("grim")["-O2"]
    assert main(["--print", "grin"]) == 1
    assert capsys.readouterr().err == f"layer 'grin': has no {NAME}; did you mean 'grim'?\n"


def test_table_of_paths_written_by_hand_is_checked_where_its_tests_are(tmp_path: Path) -> None:
    file = tmp_path / "firmware" / "toy" / "byhand" / "nic" / "costs.toml"
    assert generated.where(file) == (tmp_path / "firmware" / "toy" / NAME, "byhand/nic/costs.toml")
    check(file, {"sources_sha256": "of other sources"}, LANAI)
    hand = by_hand(tmp_path / "firmware" / "toy" / "nic")
    hand.mkdir(parents=True)
    (hand / "paths.c").write_text("void send(void) {}\n", encoding="utf-8")
    with pytest.raises(StaleError, match="was generated from other C sources"):
        check(file, {"sources_sha256": "of other sources"}, LANAI)
    check(file, {"sources_sha256": fingerprint(hand, LANAI)}, LANAI)
