"""A host as its operating system sees it: processes with address spaces of their own, and one CPU among their threads.

Both bindings of the host's verbs, RTL and pure Python, have the same processes: they are made of verbs.
"""

from pymodels.host.computing import Computes, ComputingError
from pymodels.host.faults import ProtectionFault
from pymodels.host.moves import Moves
from pymodels.host.pages import PAGE
from pymodels.host.process import Process, Processes
from pymodels.host.signals import Sig, SignalError

__all__ = [
    "PAGE",
    "Computes",
    "ComputingError",
    "Moves",
    "Process",
    "Processes",
    "ProtectionFault",
    "Sig",
    "SignalError",
]
