"""Tests import their neighbours (`worlds`, `strategies`, …) by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)  # the same examples every time; the slow run looks for new ones
settings.load_profile("fixed")
