"""Branch and cut: state, initial pattern, tree, improvement, schedule."""
