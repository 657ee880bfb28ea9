"""Tables: hierarchies of codes, cells and the equations between them, tabulation, finished and linked tables."""
