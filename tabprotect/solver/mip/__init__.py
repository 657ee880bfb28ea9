"""Integer programmes: HiGHS and SCIP, pools of rows, rows that are not written down, branching."""
