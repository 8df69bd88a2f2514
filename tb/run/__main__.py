"""`python -m tb.run STUDY`: see `command.py`."""

import sys

from tb.run.command import main
from tb.tools.ending import heed_terminate

if __name__ == "__main__":
    heed_terminate()
    sys.exit(main())
