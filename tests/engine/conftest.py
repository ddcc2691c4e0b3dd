"""While mutmut finds out which test reaches which function, every test finds empty caches.

Else only the first test that fills a cache would be known to reach the function behind it, and no other test
would be tried against the mutants of that function.
"""

import os
import sys

import pytest

CACHING = ("engine.decompose", "engine.gold", "engine.wildcard")


@pytest.fixture(autouse=True)
def cold_caches():
    if os.environ.get("MUTANT_UNDER_TEST") != "stats":
        return
    for name in CACHING:
        for value in vars(sys.modules[name]).values() if name in sys.modules else ():
            if hasattr(value, "cache_clear"):
                value.cache_clear()
