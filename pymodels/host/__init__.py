"""Host as seen by its operating system: processes with separate address spaces, and one CPU shared by their threads.

Both bindings of the host's verbs, RTL and pure Python, use the same processes, which are implemented with verbs.
"""

from pymodels.host.computing import Computes, ComputingError
from pymodels.host.faulting import Fault, FaultError, ViewError
from pymodels.host.faults import ProtectionFault
from pymodels.host.moves import Moves
from pymodels.host.outside import Outside, OutsideError
from pymodels.host.pages import PAGE, Rights
from pymodels.host.polling import CardPollError, PollsCards, UnansweredError
from pymodels.host.process import Process, Processes
from pymodels.host.signals import Sig, SignalError

__all__ = [
    "PAGE",
    "CardPollError",
    "Computes",
    "ComputingError",
    "Fault",
    "FaultError",
    "Moves",
    "Outside",
    "OutsideError",
    "PollsCards",
    "Process",
    "Processes",
    "ProtectionFault",
    "Rights",
    "Sig",
    "SignalError",
    "UnansweredError",
    "ViewError",
]
