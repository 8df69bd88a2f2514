"""GRIM's configuration files: one call reads them into a checked cluster."""

from pymodels.config.assemble import load_cluster
from pymodels.config.find import examples, find_config
from pymodels.config.model import Circuit, Cluster, Host, QueuePlan, QueueRequest, plan_queues
from pymodels.config.writer import render, write

__all__ = [
    "Circuit",
    "Cluster",
    "Host",
    "QueuePlan",
    "QueueRequest",
    "examples",
    "find_config",
    "load_cluster",
    "plan_queues",
    "render",
    "write",
]
