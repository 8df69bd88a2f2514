"""Result folders: files of two commands are never mixed, killed commands leave no files, foreign files remain.

Strategy: commands are imitated by functions that write files and publish; one is a process that is killed during its
work. Each foreign file, in each place, must be there afterwards with its content.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tb.tools.paths import ROOT
from tb.tools.workplace import MANIFEST, WORK, adding, publish, reading, workplace
from tests.patience import PATIENCE_S, wait_for

KILLED = """
import sys, time
from pathlib import Path
from tb.tools.workplace import workplace
with workplace(Path(sys.argv[1])) as work:
    (work / "results.json").write_text("killed")
    print("works", flush=True)
    time.sleep(1000)
"""


def left(folder: Path, **files: str) -> None:
    """Imitate a command that leaves these files: `a__b` for a/b, `_` for the dot."""
    with workplace(folder) as work:
        for name, text in files.items():
            path = work / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        publish(work, folder)


def content(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != MANIFEST)
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}


def test_new_files_replace_those_of_the_last_run_and_its_folders(tmp_path: Path) -> None:
    left(tmp_path, a_txt="1", b_txt="1", sub__c_txt="1")
    left(tmp_path, a_txt="2")
    assert content(tmp_path) == {"a.txt": "2"}
    assert not (tmp_path / "sub").exists()


def test_two_concurrent_commands_publish_one_after_the_other(tmp_path: Path) -> None:
    with workplace(tmp_path) as first, workplace(tmp_path) as second:
        for work, names in ((first, "ab"), (second, "bc")):
            for name in names:
                (work / name).write_text(work.name, encoding="utf-8")
        assert content(tmp_path).keys() >= {f"{first.name}/a", f"{second.name}/c"}
        publish(first, tmp_path)
        publish(second, tmp_path)
        assert {name: text for name, text in content(tmp_path).items() if "/" not in name} == {
            "b": second.name,
            "c": second.name,
        }
    assert set(content(tmp_path)) == {"b", "c"}


def test_foreign_and_changed_files_are_kept(tmp_path: Path) -> None:
    left(tmp_path, a_txt="1", b_txt="1", sub__c_txt="1")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "sub" / "more.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "b.txt").write_text("edited", encoding="utf-8")
    left(tmp_path, a_txt="2", b_txt="2")
    kept = {"notes.txt": "mine", "sub/more.txt": "mine", "b.txt.kept": "edited"}
    assert content(tmp_path) == {"a.txt": "2", "b.txt": "2", **kept}
    (tmp_path / "b.txt").write_text("again", encoding="utf-8")
    left(tmp_path, b_txt="3")
    assert content(tmp_path) == {"b.txt": "3", **kept, "b.txt.kept2": "again"}


def test_a_manifest_with_paths_outside_the_folder_removes_no_file(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    status = (tmp_path / "precious").stat()
    (tmp_path / "out").mkdir()
    for name in ("../precious", str(tmp_path / "precious")):
        files = {name: [status.st_size, status.st_mtime_ns]}
        text = json.dumps({"made by": "sanlab", "schema": 1, "files": files})
        (tmp_path / "out" / MANIFEST).write_text(text, encoding="utf-8")
        left(tmp_path / "out", a_txt="1")
        assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "precious").write_text("mine", encoding="utf-8")
    with workplace(tmp_path / "out") as work:
        (work / "link").symlink_to(tmp_path / "far")
        publish(work, tmp_path / "out")
    assert (tmp_path / "out" / "link").is_symlink()
    left(tmp_path / "out", a_txt="1")
    assert content(tmp_path / "out") == {"a.txt": "1"}
    assert content(tmp_path / "far") == {"precious": "mine"}


def test_a_killed_command_keeps_the_last_results_and_its_folder_is_removed_later(tmp_path: Path) -> None:
    left(tmp_path, results_json="old")
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "works\n"
        left(tmp_path, results_json="new")
        assert len(list(tmp_path.glob(f"{WORK}*"))) == 1  # its owner lives
        process.kill()
        process.wait(PATIENCE_S)
    assert (tmp_path / "results.json").read_text(encoding="utf-8") == "new"
    left(tmp_path, results_json="newer")
    assert content(tmp_path) == {"results.json": "newer"}


def test_a_foreign_folder_with_the_name_of_a_working_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / f"{WORK}mine").mkdir()
    (tmp_path / f"{WORK}mine" / "notes.txt").write_text("mine", encoding="utf-8")
    left(tmp_path, a_txt="1")
    assert content(tmp_path) == {f"{WORK}mine/notes.txt": "mine", "a.txt": "1"}


def test_a_command_without_published_files_leaves_no_folder(tmp_path: Path) -> None:
    with workplace(tmp_path / "new" / "out"):
        pass
    assert not (tmp_path / "new" / "out").exists()
    (tmp_path / "empty").mkdir()
    with workplace(tmp_path / "empty"):
        pass
    assert (tmp_path / "empty").is_dir()


def test_a_reader_of_several_files_blocks_publication(tmp_path: Path) -> None:
    left(tmp_path, a_txt="1", b_txt="1")
    writer = threading.Thread(target=left, args=(tmp_path,), kwargs={"a_txt": "2", "b_txt": "2"})
    with reading(tmp_path):
        writer.start()
        wait_for(lambda: len(list(tmp_path.glob(f"{WORK}*/b.txt"))) == 1, "the other command to publish")
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "1"
        assert (tmp_path / "b.txt").read_text(encoding="utf-8") == "1"
    writer.join(PATIENCE_S)
    assert content(tmp_path) == {"a.txt": "2", "b.txt": "2"}


def test_an_added_file_is_removed_with_the_others(tmp_path: Path) -> None:
    left(tmp_path, a_txt="1")
    with adding(tmp_path, "more.txt"):
        (tmp_path / "more.txt").write_text("1", encoding="utf-8")
    left(tmp_path, a_txt="2")
    assert content(tmp_path) == {"a.txt": "2"}


def test_a_foreign_manifest_is_not_extended(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("[]", encoding="utf-8")
    with adding(tmp_path, "more.txt"):
        (tmp_path / "more.txt").write_text("1", encoding="utf-8")
    assert (tmp_path / MANIFEST).read_text(encoding="utf-8") == "[]"


def test_a_full_disk_removes_the_results_of_the_last_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left(tmp_path, results_json="old", a_txt="1")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tb.tools.workplace.write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        left(tmp_path, results_json="new")
    assert "results.json" not in content(tmp_path)
