"""What holds for all tests: examples are judged by what they show, never by how fast the machine is."""

import pytest
from hypothesis import HealthCheck, settings

# A deadline or the check for slow generation would fail a right program on a busy machine; time is bounded by
# pytest-timeout and judged in benchmarks/.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures that tests have noted as properties of that name."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    noted = [
        (report.location[2], line)
        for report in reports
        for name, line in report.user_properties
        if name == "figure"
    ]
    if noted:
        terminalreporter.section("figures")
        told = ""
        for test, line in noted:
            if test != told:
                terminalreporter.line(test)
                told = test
            terminalreporter.line(f"    {line}")
