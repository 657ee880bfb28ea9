"""Methods that replace records by synthetic ones."""
