"""Methods that make a table safe."""
