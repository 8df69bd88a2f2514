"""Communication patterns of the NAS Parallel Benchmarks: messages and their buffers (paper 001, 2.3.3 and 6).

The kernels compute nothing. Each follows the published decomposition and message pattern of its benchmark (NPB 2.3),
with buffers at the addresses of the benchmark's arrays; each file states its own assumptions.
"""

from pymodels.npb.caches import Misses, TranslationCache, miss_rates
from pymodels.npb.codes import ALL_CODES, CODES, recv_queues, traffic
from pymodels.npb.operations import step_operations
from pymodels.npb.rates import RUNS, SHAPES, VICTIMS, WITH_VICTIMS, figure, of_all
from pymodels.npb.streams import Traffic, Transfer

__all__ = [
    "ALL_CODES",
    "CODES",
    "RUNS",
    "SHAPES",
    "VICTIMS",
    "WITH_VICTIMS",
    "Misses",
    "Traffic",
    "Transfer",
    "TranslationCache",
    "figure",
    "miss_rates",
    "of_all",
    "recv_queues",
    "step_operations",
    "traffic",
]
