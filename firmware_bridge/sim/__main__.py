"""`python -m firmware_bridge.sim`."""

import sys

from firmware_bridge.sim.cli import main

sys.exit(main())
