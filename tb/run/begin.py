"""First call in a simulator's Python: load cocotb without pytest.

cocotb imports pytest for expected exceptions and to rewrite asserts of tests. A study needs neither, and the import
takes a third of a short run. A stand-in module has the attributes that cocotb uses while it is imported. Later
attributes, for the result of a failed run, come from the real pytest, which later imports get as well.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
from types import ModuleType, SimpleNamespace
from typing import NoReturn

FATAL_TO_TRACE = ("SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGQUIT")
"""Signals that end a process and leave a traceback in its log, in addition to those of faulthandler."""


def begin() -> None:
    """Import cocotb without pytest, then load its entry point."""
    leave_tracebacks()
    stand_in = ModuleType("pytest")
    vars(stand_in)["raises"] = SimpleNamespace(Exception=AssertionError)
    sys.modules["pytest"] = stand_in
    try:
        manager = importlib.import_module("cocotb.regression").RegressionManager
        manager.setup_pytest_assertion_rewriting = lambda _: None
    finally:
        del sys.modules["pytest"]
    vars(stand_in)["__getattr__"] = lambda name: getattr(importlib.import_module("pytest"), name)
    del os.environ["PYGPI_USERS"]  # the variable named this function
    importlib.import_module("pygpi.entry").load_entry()


def leave_tracebacks() -> None:
    """Write a Python traceback when a signal or `os._exit` ends this process."""
    faulthandler.enable()
    for name in FATAL_TO_TRACE:
        faulthandler.register(getattr(signal, name), all_threads=False, chain=True)
    end, process = os._exit, os.getpid()

    def noted(status: int) -> NoReturn:
        if os.getpid() == process:
            faulthandler.dump_traceback(all_threads=False)
        end(status)

    os._exit = noted
