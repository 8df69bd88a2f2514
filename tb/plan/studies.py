"""Studies by name, one file each in tb/studies/<layer>. A study states a question, runs on a cluster, and
reports results.

A study module imports no simulator and names no published value. It has a docstring, whose first line is the question,
and `async def run(lab: Lab) -> None`. All other names that it may define are optional. `tb.plan.declared` lists them
with their types: settings, layers, cluster, hosts, and settings of the smallest and of the quick run.

A study outside this folder is named by its module, with dots: `my_package.my_study`.
"""

from __future__ import annotations

import importlib
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from pymodels import roots
from pymodels.errors import ConfigError, SanlabError, nearest, shown
from tb.plan.declared import Declared, StudyError, declared
from tb.plan.modules import module_if_there
from tb.plan.options import Option, stack_options

CHOICE = "layer"
"""Option that selects a message layer."""


@dataclass(frozen=True, kw_only=True)
class StudyInfo(Declared):
    """Properties of a study that are known without running it."""

    name: str
    question: str
    module: ModuleType
    layer: str = ""
    """Selected layer of a study that supports several (`LAYERS` of the module)."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Message layers that the study starts (`LAYER` of the module, or the selected layer)."""
        return (self.layer,) if self.layer else tuple(self.starts)

    def chosen(self, settings: Mapping[str, str]) -> StudyInfo:
        """Return the study with the layer that settings select, and its options. Raises ConfigError for an
        unknown layer.
        """
        known = tuple(self.known)
        if not known:
            return self
        choice = Option(known[0], "the message layer", choices=known)
        layer = str(choice.parse(CHOICE, settings[CHOICE])) if CHOICE in settings else known[0]
        options = {**declared(self.module).get("options", {}), CHOICE: choice, **stack_options(layer)}
        return replace(self, layer=layer, options=options)

    @property
    def hosts(self) -> int:
        """Minimum number of hosts (`HOSTS` of the module): 2 for a study that starts a message layer."""
        return self.least_hosts or (2 if self.layers else 1)

    @property
    def run(self) -> Any:
        """Coroutine function of the study."""
        return self.module.run


def files() -> dict[str, Path]:
    """Return the file of every study by name."""
    return roots.studies()


def names() -> list[str]:
    """Return the names of all studies."""
    return list(files())


def known() -> str:
    """Return the names of all studies for a help text; empty if two have the same name, which `load` reports."""
    try:
        return ", ".join(names())
    except ConfigError:
        return ""


def fault(name: str) -> str:
    """Return the reason why a study cannot be loaded; empty if it can."""
    try:
        load(name)
    except StudyError as error:
        return str(error)
    return ""


def load(name: str) -> StudyInfo:
    """Return a study by name, or by module with dots. Raises ConfigError with the nearest name, or without a name."""
    if not name:
        remedy = "give one, such as STUDY=grim_pingpong; `make studies` lists all"
        raise ConfigError("STUDY", 0, "no study given", "the command works on one study", remedy)
    module = _outside(name) if "." in name else None
    if module is None:
        known_files = files()
        if name not in known_files:
            remedy = nearest(name, list(known_files))
            raise ConfigError("STUDY", 0, f"unknown study {name!r}", "STUDY names a file of tb/studies", remedy)
        module = _imported(f"tb.studies.{known_files[name].parent.name}.{name}", known_files[name])
    _check_module(module)
    question = (module.__doc__ or "").strip().split("\n")[0]
    info = StudyInfo(name=name, question=question, module=module, **declared(module))
    return info.chosen({})


def _outside(name: str) -> ModuleType | None:
    """Return the module of a study outside tb/studies, or None if it does not exist."""
    if not all(part.isidentifier() for part in name.split(".")):
        return None
    with _errors_named(name):
        module = module_if_there(name)
    return module if inspect.iscoroutinefunction(getattr(module, "run", None)) else None


def _imported(name: str, file: Path) -> ModuleType:
    with _errors_named(str(file)):
        return importlib.import_module(name)


@contextmanager
def _errors_named(study: str) -> Iterator[None]:
    """Raise StudyError with file and line for any exception of a study's import."""
    try:
        yield
    except SanlabError:
        raise
    except SyntaxError as error:
        file, line = error.filename or study, error.lineno or 0
        raise StudyError(file, line, "invalid Python in the study", shown(error.msg), "correct the line") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the code of a study may raise anything
        file, line = _place(error, study)
        text = shown(f"{type(error).__name__}: {error}")
        raise StudyError(file, line, "the study cannot be imported", text, "correct the line") from None


def _place(error: BaseException, study: str) -> tuple[str, int]:
    """Return the line of the study that raised an exception, else the last line of any file."""
    frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    frames = [(file, line) for file, line in frames if not file.startswith("<")]
    own = [(file, line) for file, line in frames if file == study]
    return (own or frames or [(study, 0)])[-1]


def _check_module(module: ModuleType) -> None:
    """Raise StudyError for a module without the coroutine function `run`."""
    file = module.__file__ or module.__name__
    if not inspect.iscoroutinefunction(getattr(module, "run", None)):
        there = hasattr(module, "run")
        cause = "its `run` is not a coroutine function" if there else "it has no `run`"
        raise StudyError(file, 0, "not a study", cause, "define `async def run(lab: Lab) -> None`")


def guarded(info: StudyInfo, call: Callable[[Any], Any], plan: Any) -> Any:
    """Return the result of a study's function (`check`, `cores`). Raises StudyError for a foreign exception."""
    try:
        return call(plan)
    except SanlabError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the code of a study may raise anything
        file, line = _place(error, info.module.__file__ or info.name)
        text = shown(f"{type(error).__name__}: {error}")
        raise StudyError(file, line, f"{call.__name__} of the study fails", text, "correct the line") from None
