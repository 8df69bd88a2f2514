"""Starts a command of the laboratory, as a script: the path begins with the tree that this file stands in.

So `tb`, `firmware` and `pymodels` are those of the tree, whatever folders the working directory has.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve()


def main() -> int:
    """The command; the exit code."""
    sys.path[:] = [str(HERE.parents[2]), *(path for path in sys.path if Path(path).resolve() != HERE.parent)]
    from tb.sanlab.command import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
