"""Generalisation: ladders of coarser values, the best node of their lattice, and partitions (Mondrian)."""
