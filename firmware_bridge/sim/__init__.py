"""A simulated table machine: for development, tests, the demo and the training of venue staff."""
