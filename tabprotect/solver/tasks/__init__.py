"""Independent pieces of work: executors, and the store of what is finished."""
