"""The classic methods: subtable by subtable, hypercubes, shortest paths, one programme for many cells."""
