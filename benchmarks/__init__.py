"""Measured figures, side by side in one run. `python -m benchmarks` runs all; RESULTS.md keeps them."""
