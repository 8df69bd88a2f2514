"""The file of a linked program.

Strategy: each committed image is read and written again, which must give the same text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels import generated
from pymodels.lanai.image import Image
from tb.tools.paths import ROOT

IMAGES = [
    archive.parent / name
    for archive in sorted((ROOT / "firmware").rglob(generated.NAME))
    for name in generated.texts(archive)
    if Path(name).match("firmware.*.toml")
]


@pytest.mark.parametrize("path", IMAGES, ids=[f"{path.parent.name}-{path.stem}" for path in IMAGES])
def test_an_image_that_is_read_and_written_again_is_the_same_file(path: Path) -> None:
    text = generated.found(path)
    assert text is not None
    command = text.partition("`")[2].partition("`")[0]
    assert Image.load(path).text(command) == text
