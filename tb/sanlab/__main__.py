"""Command `sanlab` of an installation, `python -m sanlab`, and `python -m tb.sanlab` of a checkout."""

import os
import sys

from . import tree


def main() -> None:
    """Replace this process by the command in the tree."""
    os.execve(sys.executable, [sys.executable, str(tree.START), *sys.argv[1:]], tree.environment())  # noqa: S606


if __name__ == "__main__":
    main()
