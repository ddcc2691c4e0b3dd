"""A checked claim in words, English or Chinese, for people who settle one at the command line."""
