"""`python -m baconlogic` is the command `baconlogic`."""

import sys

from baconlogic.cli import main

if __name__ == "__main__":
    sys.exit(main())
