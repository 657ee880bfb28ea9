"""Records that need not fit into memory: masked and counted in batches, by DuckDB or Spark."""
