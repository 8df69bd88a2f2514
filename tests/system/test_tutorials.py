"""The tutorials of the site work when they are typed.

Strategy: each page is followed in a copy of the checkout, block by block (`tb/docs/reader.py`): files are
written, changes applied, commands run, and printed lines compared with those that the page shows. Long commands have a
shorter form in a comment of the page. Pages made up with one mistake each show that following can fail.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.docs.reader import Block, PageError, Reader, blocks
from tb.tools.paths import ROOT

PAGES = sorted((ROOT / "tb" / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial_works_as_typed(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(page.read_text(encoding="utf-8")):
        reader.follow(block)


@pytest.fixture(name="reader", scope="module")
def fixture_reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Return a reader with a checkout."""
    return Reader(tmp_path_factory.mktemp("reader"))


def test_blocks_of_a_page_are_found_with_the_commands_for_the_test() -> None:
    page = "# A\n<!-- test: make help -->\n```sh\nmake\n```\ntext\n```text\na\n```\n"
    assert list(blocks(page)) == [Block("sh", "make\n", "make help"), Block("text", "a\n", "")]


def test_blocks_end_at_a_heading() -> None:
    page = "# A\n```sh\nmake\n```\n## 2. B\n```sh\nmake help\n```\n"
    assert list(blocks(page, "2.")) == [Block("sh", "make\n", "")]
    with pytest.raises(PageError, match="no heading begins with '3.'"):
        list(blocks(page, "3."))


def test_a_file_is_written_and_changed(reader: Reader) -> None:
    reader.follow(Block("python", "# file: some/place.py\nA = 1\n", ""))
    change = "--- a/some/place.py\n+++ b/some/place.py\n@@ -1 +1 @@\n-A = 1\n+A = 2\n"
    reader.follow(Block("diff", change, ""))
    reader.follow(Block("sh", "cat some/place.py\n", ""))
    reader.follow(Block("text", "A = 2\n", ""))


@pytest.mark.parametrize(
    "block",
    [
        Block("sh", "make no_such_target", ""),
        Block("text", "a line that nothing printed", ""),
        Block("diff", "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-A = 1\n+A = 2\n", ""),
    ],
    ids=["command", "text", "diff"],
)
def test_a_mistake_of_a_page_is_noticed(reader: Reader, block: Block) -> None:
    with pytest.raises(PageError):
        reader.follow(block)
