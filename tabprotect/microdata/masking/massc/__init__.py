"""MASSC: micro-agglomeration, substitution, subsampling and calibration (Singh, Yu and Dunteman 2003)."""
