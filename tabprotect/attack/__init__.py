"""The intruder: what published tables give away, and proofs that they do not give away more."""
