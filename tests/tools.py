"""Programs that some tests need beside Python: found, skipped when absent, or demanded."""

import os
import shutil
from pathlib import Path

import pytest

DEMANDED = "BACONLOGIC_TEST_TOOLS"  # when set, a tool that is not there is a failure: continuous integration sets it


def tool(*names, beside=()):
    """Return the path of the first of these programs that is installed, on the PATH or in a folder `beside`."""
    for name in names:
        found = shutil.which(name) or next((str(p) for folder in beside for p in Path(folder).glob(name)), None)
        if found:
            return found
    message = f"needs {' or '.join(names)}"
    if os.environ.get(DEMANDED):
        pytest.fail(message)
    pytest.skip(message)
    return None
