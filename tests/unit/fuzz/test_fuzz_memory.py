"""Reference model of GRIM's remote memory in the fuzz test.

Strategy: the model gets a write and the restart of the target node. It must determine which bytes may be in the memory
that the node allocates after its restart.
"""

from __future__ import annotations

import numpy as np
import pytest

from tb.studies.grim.fuzz.memory import Block, Bytes, Effect, Lock, Memory, Order

NEAR, FAR = 0, 1
VA, PA, SIZE = 0x4000_0000, 0x10_0000, 64
BEFORE, WRITTEN = np.full(SIZE, 1, np.uint8), np.full(SIZE, 2, np.uint8)


def block(life: int) -> Block:
    """Return the first block of a life; the addresses are equal in all lives."""
    return Block(FAR, VA, SIZE, ((PA, SIZE),), BEFORE, "store", True, born=life, life=life)


def stands(memory: Memory, data: Bytes) -> bool:
    """Return True if the model allows the data in the block of the second life."""
    return memory.wrong_bytes(memory.blocks_of(FAR)[0], data) is None


@pytest.mark.parametrize("done", [False, True])
def test_write_in_flight_when_its_target_fails_may_land_after_the_restart(done: bool) -> None:
    """`done`: its lock had been seen, so it was not under way."""
    memory = Memory()
    memory.came(block(0))
    memory.lock_words[FAR] = 1
    lock = Lock(FAR, VA, PA, 7, seen=done)
    order = Order("to", NEAR, 0, 0, FAR)
    memory.effects.append(Effect("write", FAR, VA, SIZE, order, 1, lambda: [(None, WRITTEN)], lock=lock))
    memory.part(FAR, 2)
    memory.came(block(1))
    assert stands(memory, BEFORE)
    assert stands(memory, WRITTEN) is not done
    assert memory.lock_words[FAR] == 1, "the word of its lock may also be set in the next life"
