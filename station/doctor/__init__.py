"""What keeps a table or the central station from its work: facts, and findings with what to do about each."""
