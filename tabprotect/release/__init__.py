"""What may leave the building: releases, their summary, their folder, and how they are read back."""
