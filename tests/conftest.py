"""What holds for all tests: examples are judged by what they show, never by how fast the machine is."""

from hypothesis import HealthCheck, settings

# A deadline or the check for slow generation would fail a right program on a busy machine; time is bounded by
# pytest-timeout and judged in benchmarks/.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
