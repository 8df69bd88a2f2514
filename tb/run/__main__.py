"""Entry point of `python -m tb.run STUDY` (`command.py`)."""

import sys

from tb.run.command import main
from tb.tools.ending import end_on_terminate

if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
