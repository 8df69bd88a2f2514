"""Search for path names in the Python code of a layer.

Strategy: small layers in a temporary folder name their paths in all ways that firmware uses: literals, constants,
choices, functions that pass a name on. Names that only execution determines must be reported.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs.named import named_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("await nic.work('a')", {"a"}),
        ("await host.spend('a', times=3)", {"a"}),
        ("await nic.work(path='a')", {"a"}),
        ("Watch(0, 1, 'a')", {"a"}),
        ("verbs.Watch(0, 1, mask=3, path='a')", {"a"}),
        ("await host.poll([(0, 1)], 'a')", {"a"}),
        ("await grim.poll()", set()),
        ("await host.poll_card(0, 1, 'a', mask=2)", {"a"}),
        ("await nic.work('a' if long else 'b')", {"a", "b"}),
        ("A = 'a'\nawait nic.work(A)", {"a"}),
        ("class Paths:\n    scan = 'a'\nawait nic.work(Paths.scan)", {"a"}),
        ("A: Final = 'a'\nB = A\nawait nic.work(B)", {"a"}),
        ("P = {1: 'a', 2: 'b'}\nasync def f(k):\n    await nic.work(P[k])", {"a", "b"}),
        ("async def f(k):\n    p = 'a' if k else 'b'\n    await nic.work(p)", {"a", "b"}),
        ("async def charge(self, n, path):\n    await nic.work(path, n)\nawait self.charge(3, 'a')", {"a"}),
        ("answer = Answer(1, 1, 'a')\nawait nic.work(answer.path)", {"a"}),
        ("async def f(p):\n    await g(p)\nasync def g(q):\n    await nic.work(q)\nawait f('a')", {"a"}),
    ],
)
def test_named_paths_are_found(tmp_path: Path, text: str, paths: set[str]) -> None:
    (tmp_path / "layer.py").write_text(text, encoding="utf-8")
    named = named_paths(tmp_path)
    assert set(named.paths) == paths
    assert not named.unknown


@pytest.mark.parametrize("path", ["f'step_{k}'", "name()", "self.path", "3", "A"])
def test_a_path_that_only_execution_determines_is_reported_with_its_place(tmp_path: Path, path: str) -> None:
    (tmp_path / "layer.py").write_text(f"A = A\n\nawait nic.work({path})\n", encoding="utf-8")
    named = named_paths(tmp_path)
    assert named.unknown == ["layer.py:3"]


def test_places_are_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "scan.py").write_text("\nawait nic.work('a')\n", encoding="utf-8")
    (tmp_path / "send.py").write_text("await nic.work('a')\n", encoding="utf-8")
    assert named_paths(tmp_path).paths == {"a": ["scan.py:2", "send.py:1"]}
