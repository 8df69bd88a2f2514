"""Table of handlers that all processes of a program share.

Strategy: addresses lead back to their handlers; equal programs have equal checksums, others do not; unknown addresses
and functions are rejected by name.
"""

from __future__ import annotations

import pytest

from firmware.common.host.code_image import BASE, STEP, CodeImage, ImageError


def add() -> None:
    """Do nothing: a handler."""


def take() -> None:
    """Do nothing: another handler."""


def test_the_address_of_a_handler_returns_the_handler() -> None:
    image = CodeImage([add, take])
    assert [image.address(add), image.address(take)] == [BASE, BASE + STEP]
    assert image.handler(BASE) is add and image.handler(BASE + STEP) is take


def test_equal_images_have_equal_checksums_and_others_do_not() -> None:
    sums = [CodeImage(handlers).checksum for handlers in ([add, take], [add, take], [take, add], [add], [])]
    assert sums[0] == sums[1] and len(set(sums)) == 4


@pytest.mark.parametrize("address", [0, BASE - STEP, BASE + 1, BASE + 2 * STEP])
def test_an_address_without_a_handler_is_rejected(address: int) -> None:
    with pytest.raises(ImageError, match=f"address {address:#x}: no handler has this address; one of add at 0x4"):
        CodeImage([add, take]).handler(address)


@pytest.mark.parametrize("handler", [take, None, []])
def test_a_function_outside_of_the_image_is_rejected(handler: object) -> None:
    with pytest.raises(ImageError, match="not in the code image; one of add at 0x400000"):
        CodeImage([add]).address(handler)  # type: ignore[arg-type]


def test_an_image_with_a_duplicate_handler_is_rejected() -> None:
    with pytest.raises(ImageError, match="a handler is given twice"):
        CodeImage([add, add])
