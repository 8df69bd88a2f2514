"""sanlab as a library: `import sanlab; sanlab.run("grim_pingpong", size=64, seed=3)`. See README.md beside this file.

`studies()` lists the studies, `options("grim_pingpong")` the settings of one.

Everything here runs in the user's own process and needs numpy only; the laboratory itself runs in a child process.
"""

from .ask import Options, events, options, studies
from .errors import FailedError, RefusedError, SanlabError
from .result import Run, Series, load
from .running import run
from .sweeping import sweep

__all__ = [
    "FailedError",
    "Options",
    "RefusedError",
    "Run",
    "SanlabError",
    "Series",
    "events",
    "load",
    "options",
    "run",
    "studies",
    "sweep",
]
