"""Pages for referees, made from a rule set's data and its worked examples."""
