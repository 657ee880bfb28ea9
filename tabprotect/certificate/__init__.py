"""The verifier of certificates: what an auditor runs, with nothing but the standard library."""
