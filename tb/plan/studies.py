"""Studies by name: one file each in tb/studies/<layer>. A study says what is asked, runs it on a cluster in RTL, and
hands in what it measured.

A study module has a docstring (its first line is the question), optionally `OPTIONS` (its keys for SET), `LAYER` (the
message layer that it starts, or several: refused on a NIC for which it is not compiled), `LAYERS` (the layers of which
it starts one: the first, or that of the option `layer`, which is added with those of the layer), `NEEDS` (what it uses
of the layer that the layer's firmware in C may lack, in the words of `LACKS` of its `boot.py`), `CLUSTER` (the example
cluster it needs, else the user's), `DESIGN` (what is built when it is not a cluster), `HOSTS` (how many hosts it needs
at least: two where it starts a message layer), `CYCLIC_ROUTES` (it may run with given routes, or options of its layer,
that can deadlock), `QUICK` (settings, as SET has them, that keep it within half a minute), `TINY` (those of its
smallest run, which tests compare on both simulators), `VARIANTS` (further runs of `make figures`: profile and settings
by name), `check(plan)` (raises ConfigError for settings that cannot be, before anything is built), `cores(plan)`
(whether NICs may be given firmware in C when the run has begun), and `async def run(lab: Lab) -> None`. It imports no
simulator, and names no published figure.

A study outside this folder is named by its module, with dots: `my_package.my_study`.
"""

from __future__ import annotations

import importlib
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from pymodels import roots
from pymodels.errors import ConfigError, SanlabError, nearest, shown
from tb.plan.modules import module_if_there
from tb.plan.options import Option, stack_options

CHOICE = "layer"
"""The option that chooses a message layer."""


class StudyError(ConfigError):
    """A study whose file cannot be used: the message names file and line."""


@dataclass(frozen=True)
class StudyInfo:
    """What is known of a study without running it."""

    name: str
    question: str
    options: Mapping[str, Option]
    cluster: str | None
    design: Any
    """What is built when it is not a cluster (`DESIGN` of the module), else None."""
    module: ModuleType
    check: Callable[[Any], None] | None = None
    """Looks at the whole plan before anything is built (`check` of the module)."""
    cores: Callable[[Any], bool] | None = None
    """Whether NICs are built with processors that execute although none does from the beginning (`cores`)."""
    cyclic_routes: bool = False
    """Given routes, or options of a layer, with which packets can wait for each other in a circle are not refused
    (`CYCLIC_ROUTES` of the module).
    """
    quick: str = ""
    """Settings for a first look (`QUICK` of the module): what `make figures QUICK=1` runs it with."""

    tiny: str = ""
    """Settings of its smallest run (`TINY` of the module): equal on both simulators, asleep and always on."""

    variants: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Further runs of `make figures` by name (`VARIANTS` of the module): profile, and settings as SET has them."""

    layer: str = ""
    """The one that was chosen, of a study that runs over several (`LAYERS` of the module)."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The message layers that it starts (`LAYER` of the module: one, or several; or the one that was chosen)."""
        said: str | Iterable[str] = self.layer or getattr(self.module, "LAYER", ())
        return (said,) if isinstance(said, str) else tuple(said)

    def chosen(self, settings: Mapping[str, str]) -> StudyInfo:
        """With the layer that settings choose, and its options. Raises ConfigError for one that is not of `LAYERS`."""
        known: tuple[str, ...] = tuple(getattr(self.module, "LAYERS", ()))
        if not known:
            return self
        choice = Option(known[0], "the message layer", choices=known)
        layer = str(choice.parse(CHOICE, settings[CHOICE])) if CHOICE in settings else known[0]
        options = {**getattr(self.module, "OPTIONS", {}), CHOICE: choice, **stack_options(layer)}
        return replace(self, layer=layer, options=options)

    @property
    def hosts(self) -> int:
        """How many hosts it needs at least (`HOSTS` of the module): two where it starts a message layer."""
        return int(getattr(self.module, "HOSTS", 2 if self.layers else 1))

    @property
    def run(self) -> Any:
        """The study itself."""
        return self.module.run


def files() -> dict[str, Path]:
    """The file of every study, by name."""
    return roots.studies()


def names() -> list[str]:
    """The studies that exist."""
    return list(files())


def known() -> str:
    """The studies that exist, for a help text; empty where two have one name, which `load` reports."""
    try:
        return ", ".join(names())
    except ConfigError:
        return ""


def fault(name: str) -> str:
    """Why a study cannot be loaded; empty: it can."""
    try:
        load(name)
    except StudyError as error:
        return str(error)
    return ""


def load(name: str) -> StudyInfo:
    """A study by name, or by its module with dots. Raises ConfigError naming the nearest."""
    module = _outside(name) if "." in name else None
    if module is None:
        known_files = files()
        if name not in known_files:
            remedy = nearest(name, list(known_files))
            raise ConfigError("STUDY", 0, f"unknown study {name!r}", "STUDY names a file of tb/studies", remedy)
        module = _imported(f"tb.studies.{known_files[name].parent.name}.{name}", known_files[name])
    _check_module(module)
    question = (module.__doc__ or "").strip().split("\n")[0]
    info = StudyInfo(
        name,
        question,
        getattr(module, "OPTIONS", {}),
        getattr(module, "CLUSTER", None),
        getattr(module, "DESIGN", None),
        module,
        getattr(module, "check", None),
        getattr(module, "cores", None),
        getattr(module, "CYCLIC_ROUTES", False),
        getattr(module, "QUICK", ""),
        getattr(module, "TINY", ""),
        getattr(module, "VARIANTS", {}),
    )
    return info.chosen({})


def _outside(name: str) -> ModuleType | None:
    """The module of a study that stands outside tb/studies; None when there is none."""
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
    """Raise StudyError, with file and line, for whatever the import of a study raises."""
    try:
        yield
    except SanlabError:
        raise
    except SyntaxError as error:
        file, line = error.filename or study, error.lineno or 0
        raise StudyError(file, line, "the study is not Python", shown(error.msg), "correct the line") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a study does there
        file, line = _place(error, study)
        text = shown(f"{type(error).__name__}: {error}")
        raise StudyError(file, line, "the study cannot be imported", text, "correct the line") from None


def _place(error: BaseException, study: str) -> tuple[str, int]:
    """The line of the study at which an exception was raised, else the last one of any file."""
    frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    frames = [(file, line) for file, line in frames if not file.startswith("<")]
    own = [(file, line) for file, line in frames if file == study]
    return (own or frames or [(study, 0)])[-1]


def _check_module(module: ModuleType) -> None:
    """Raise StudyError for a study that has no `run`, or whose settings are not options."""
    file = module.__file__ or module.__name__
    if not inspect.iscoroutinefunction(getattr(module, "run", None)):
        there = hasattr(module, "run")
        cause = "its `run` is not a coroutine function" if there else "it has no `run`"
        raise StudyError(file, 0, "not a study", cause, "define `async def run(lab: Lab) -> None`")
    options = getattr(module, "OPTIONS", {})
    if not isinstance(options, Mapping) or not all(isinstance(one, Option) for one in options.values()):
        raise StudyError(file, 0, "not a study", "OPTIONS is not a table of `Option`", "see the page of studies")


def guarded(info: StudyInfo, call: Callable[[Any], Any], plan: Any) -> Any:
    """What a function of a study (`check`, `cores`) returns. Raises StudyError for an exception that is not ours."""
    try:
        return call(plan)
    except SanlabError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a study does there
        file, line = _place(error, info.module.__file__ or info.name)
        text = shown(f"{type(error).__name__}: {error}")
        raise StudyError(file, line, f"{call.__name__} of the study fails", text, "correct the line") from None
