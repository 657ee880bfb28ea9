"""Lower bounds: inequalities, their separation, the relaxation, the master, the proof."""
