"""The whole pipeline beside others: one run, processes taking turns, on the same pictures of hands."""
