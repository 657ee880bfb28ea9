"""The problem made smaller, and what no pattern protects."""
