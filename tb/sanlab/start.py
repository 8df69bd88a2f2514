"""Script that starts a command of the laboratory with the tree of this file first on the module path.

`tb`, `firmware` and `pymodels` are thus those of the tree, whatever folders the working directory has.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve()


def main() -> int:
    """Run the command and return the exit code."""
    sys.path[:] = [str(HERE.parents[2]), *(path for path in sys.path if Path(path).resolve() != HERE.parent)]
    from tb.sanlab.command import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
