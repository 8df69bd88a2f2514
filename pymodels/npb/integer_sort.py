"""IS: keys are counted in buckets, buckets are assigned to processes, and every key moves to the process of its bucket.

A step is one ranking. The counts of 1,024 buckets (and 5 test values) are summed over all processes, by recursive
doubling between `bucket_size` and its totals (ours: the paper does not name its MPI). Each process sends each other the
number of keys to come. All keys then move from `key_buff1`, sorted by process, into `key_buff2`. Keys are distributed
equally over all processes (ours: the benchmark balances buckets so that they nearly are). The three key arrays have
room for half as many keys again, as declared.
"""

from __future__ import annotations

from itertools import chain

from pymodels.npb.streams import Traffic, Transfer, arrays, together

KEYS = {"A": 1 << 23, "B": 1 << 25}
INT = 4
BUCKETS = (1024 + 5) * INT
ITERATIONS = 11
"""Ten timed iterations, and one before the clock starts."""


def integer_sort(problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of IS."""
    own = KEYS[problem] // processes * INT
    room = own * 3 // 2
    counts = processes * INT
    at = arrays(
        key_array=room,
        key_buff1=room,
        key_buff2=room,
        bucket_size=BUCKETS,
        totals=BUCKETS,
        pointers=BUCKETS,
        send_count=counts,
        recv_count=counts,
    )
    step: list[Transfer] = []
    for bit in range(processes.bit_length() - 1):
        peer = rank ^ 1 << bit
        into, out = Transfer(False, peer, at["totals"], BUCKETS), Transfer(True, peer, at["bucket_size"], BUCKETS)
        step += together((into, out))
    others = [(rank + i) % processes for i in range(1, processes)]
    for source, target, size in (("send_count", "recv_count", INT), ("key_buff1", "key_buff2", own // processes)):
        into_and_out = (
            (
                Transfer(False, peer, at[target] + peer * size, size),
                Transfer(True, peer, at[source] + peer * size, size),
            )
            for peer in others
        )
        step += together(chain.from_iterable(into_and_out))
    return Traffic((), tuple(step), ITERATIONS)
