"""Communication kernels of the NAS Parallel Benchmarks: who sends what to whom, from where (paper 001, 2.3.3 and 6).

They compute nothing. Each follows the published decomposition and message pattern of its benchmark (NPB 2.3), with the
buffers where the benchmark's own arrays stand; what of that is ours, each file says.
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
