"""The file of a linked program.

Strategy: each committed image is read and written again, which must give the same text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.lanai.image import Image

IMAGES = sorted((Path(__file__).parents[3] / "firmware").rglob("firmware.lanai*.toml"))


@pytest.mark.parametrize("path", IMAGES, ids=[f"{path.parent.name}-{path.stem}" for path in IMAGES])
def test_an_image_that_is_read_and_written_again_is_the_same_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    command = text.partition("`")[2].partition("`")[0]
    assert Image.load(path).text(command) == text
