"""Communication kernels of six NAS Parallel Benchmarks: who sends what to whom, from where (paper 001, 2.3.3).

They compute nothing. Each follows the published decomposition and message pattern of its benchmark (NPB 2.3), with the
buffers where the benchmark's own arrays stand; what of that is ours, each file says.
"""

from pymodels.npb.caches import Misses, TranslationCache, miss_rates
from pymodels.npb.codes import CODES, recv_queues, traffic
from pymodels.npb.rates import RUNS, SHAPES, VICTIMS, WITH_VICTIMS, figure, of_all
from pymodels.npb.streams import Traffic, Transfer

__all__ = [
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
    "traffic",
]
