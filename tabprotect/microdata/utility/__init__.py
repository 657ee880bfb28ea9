"""What masking leaves of the use of microdata: every measure is 0 for a file that was not changed."""

from __future__ import annotations

from tabprotect.microdata.utility.categorical import categorical_loss, contingency_loss, entropy_loss
from tabprotect.microdata.utility.domains import domain_estimates
from tabprotect.microdata.utility.models import propensity, regression_fit
from tabprotect.microdata.utility.numeric import numeric_loss
from tabprotect.microdata.utility.probabilistic import probabilistic_loss

__all__ = [
    "categorical_loss",
    "contingency_loss",
    "domain_estimates",
    "entropy_loss",
    "numeric_loss",
    "probabilistic_loss",
    "propensity",
    "regression_fit",
]
