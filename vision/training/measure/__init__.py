"""Measures the whole reading: silent errors, sources, indicator, robustness, reliability; free of torch.

Every measurement is repeatable from its seed, appends JSON lines, and goes on where it was broken off.
"""
