"""Tests import their neighbours (`worlds`, `strategies`, …) by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
