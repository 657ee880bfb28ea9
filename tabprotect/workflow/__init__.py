"""Whole runs: what is to be done is in a file, and everything below is called in its order."""
