"""The solver layer: linear and integer programmes, limits, exact arithmetic; knows nothing of tables."""
