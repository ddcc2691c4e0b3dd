"""Command line: ``python -m vision.training {split,detector,classifier,export,evaluate} --help``."""

from vision.training.cli import main

raise SystemExit(main())
