"""Reader of GRIM's configuration files: `load_cluster` returns a checked cluster."""

from pymodels.card.fabric import Circuit
from pymodels.config.assemble import load_cluster
from pymodels.config.find import examples, find_config
from pymodels.config.model import Cluster, Connection, Host, QueueRequest
from pymodels.config.writer import render, write

__all__ = [
    "Circuit",
    "Cluster",
    "Connection",
    "Host",
    "QueueRequest",
    "examples",
    "find_config",
    "load_cluster",
    "render",
    "write",
]
