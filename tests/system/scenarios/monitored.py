"""Do callbacks, a cocotb-bus monitor and its scoreboard see each transaction of a host's stores and loads in time?

Strategy: a host stores words in the memory of its NIC and reads them back. Each store is a transaction whose address
and data are known beforehand, and which a scoreboard expects. A callback notes when it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymodels.pci.pci import Command, Termination, Transaction
from tb.agents.cluster import ClusterMonitor
from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {
    "words": Option(20, "words that are stored and read", 1, 1000),
    "wrong": Option(0, "1: the scoreboard expects another word", 0, 1),
}
BASE = 0x1000
"""Address of the first word in the NIC's memory."""


async def run(lab: Lab) -> None:
    """Run the scenario."""
    host: Any = lab.running.hosts[0]
    words = [0x01020304 * (n + 1) & 0xFFFFFFFF for n in range(lab.option("words"))]
    source = lab.running.monitor(f"{host.name}.pci")
    before = len(source.transactions)
    seen: list[tuple[Transaction, int]] = []
    source.add_callback(lambda transaction: seen.append((transaction, lab.kernel.now)))
    await _store_and_load(lab, host, words)
    lab.check("callbacks", [one for one, _ in seen] == source.transactions[before:], "the list differs")
    stored = [_word(one) for one, _ in seen if one.command is Command.MEMORY_WRITE]
    loaded = [_word(one) for one, _ in seen if one.command is not Command.MEMORY_WRITE]
    lab.check("words", stored == words and loaded == words, "the transactions have other words")
    ends = [(one.start + one.clocks - 1) * source.period for one, _ in seen]
    lab.check("times", [when for _, when in seen] == [end + 1 for end in ends], "a callback is late")
    completed = all(one.end is Termination.COMPLETION for one, _ in seen)
    lab.check("ends", completed, "a transaction has not completed")
    lab.metric("transactions", len(seen))
    board = ClusterMonitor(source).scoreboard([one for one, _ in seen])
    await _store_and_load(lab, host, [word + lab.option("wrong") for word in words])
    board.finish()


async def _store_and_load(lab: Lab, host: Any, words: Sequence[int]) -> None:
    for n, word in enumerate(words):
        at = host.card.sram + BASE + 4 * n
        await host.pio_write(at, word.to_bytes(4, "big"))
        read = await host.pio_read(at)
        lab.check("memory", read == word, f"word {n} reads {read:#010x}")


def _word(transaction: Transaction) -> int:
    return int.from_bytes(bytes(value for _, value in transaction.bytes_moved()), "big")
