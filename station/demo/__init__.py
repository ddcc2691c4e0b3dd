"""The whole system on one machine: simulated machines and players, real processes in between."""
