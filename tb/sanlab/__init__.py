"""sanlab as a library: `import sanlab; sanlab.run("grim_pingpong", size=64, seed=3)`. See README.md beside this file.

Everything here runs in the user's own process and needs numpy only; the laboratory itself runs in a child process.
"""

from .ask import events, studies
from .errors import FailedError, RefusedError, SanlabError
from .result import Run, Series, load
from .running import run

__all__ = ["FailedError", "RefusedError", "Run", "SanlabError", "Series", "events", "load", "run", "studies"]
