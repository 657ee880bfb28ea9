"""Safe patterns: construction, clean-up, the root solve."""
