"""What all methods have in common: one protocol, and options that are checked by their types."""
