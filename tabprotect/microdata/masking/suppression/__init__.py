"""Local suppression: the fewest blanks that leave no unsafe combination of keys."""
