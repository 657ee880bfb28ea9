"""Models for the frequencies of keys in the population, estimated from the sample."""
