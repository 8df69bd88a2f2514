"""Page rights that are removed while VIA runs.

Strategy: on the machine a process registers memory, posts a receive there, and then protects the page. The NIC's DMA
must end the run with an error that names process and page, and the library's store into a descriptor must fail. A page
that gets its rights back works as before.
"""

from __future__ import annotations

import re

import pytest

from pymodels.host import PAGE, ProtectionFault, Rights
from pymodels.machine import MachineError
from tests.unit.via.via_bench import Pair, good, pair


async def send_to(p: Pair, rights: Rights) -> None:
    """Send a message to a page whose rights change after the receive is posted."""
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 100)]))
    await p.there.process.protect(p.there.base, PAGE, rights)
    await p.mine.post_send(p.here.descriptor(1).send([p.here.part(0, 100)]))
    await p.yours.poll_receive()


@pytest.mark.parametrize("rights", [Rights.READ, Rights.NONE])
def test_a_message_for_a_protected_page_ends_the_run_with_process_and_page(rights: Rights) -> None:
    p = pair()
    said = f"into a page that may not be written: .*{re.escape(p.there.process.name)}.*{p.there.base:#x}"
    with pytest.raises(MachineError, match=said):
        p.machine.finish(send_to(p, rights))


def test_a_descriptor_in_a_protected_page_cannot_be_posted() -> None:
    p = pair()
    p.machine.finish(good(p))
    p.machine.finish(p.here.process.protect(p.here.places, PAGE, Rights.NONE))
    descriptor = p.here.descriptor(1).va
    assert p.here.places <= descriptor < p.here.places + PAGE
    said = f"{p.here.process.who}: protection fault: store of 48 bytes at {descriptor:#x}: the page has no right"
    with pytest.raises(ProtectionFault, match=f"^{re.escape(said)}"):
        p.machine.finish(good(p))


def test_pages_work_again_after_their_rights_are_restored() -> None:
    p = pair()
    p.machine.finish(p.there.process.protect(p.there.base, PAGE, Rights.NONE))
    p.machine.finish(p.there.process.protect(p.there.base, PAGE, Rights.WRITE))
    p.machine.finish(good(p))
