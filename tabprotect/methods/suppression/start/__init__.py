"""Safe patterns: construction, removal in bulk, clean-up, the root solve."""
