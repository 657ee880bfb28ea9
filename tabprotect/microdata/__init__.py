"""Protect microdata: mask or synthesise records, measure risk and utility, choose with open eyes.

The usual import is ``import tabprotect.microdata as md``.
"""

from __future__ import annotations

from tabprotect.errors import InputError
from tabprotect.microdata import anonymity_checks as _anonymity_checks  # noqa: F401 (registers the checkers)
from tabprotect.microdata import checks as _checks  # noqa: F401 (registers the checkers)
from tabprotect.microdata import choosing, risk, utility
from tabprotect.microdata import value_checks as _value_checks  # noqa: F401 (registers the checkers)
from tabprotect.microdata.claims import Check, Claim, Verification, claim_kinds
from tabprotect.microdata.large.keys import KeyFrequencies, key_frequencies
from tabprotect.microdata.large.masked import LargeMasked
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.unsafe import LargeUnsafeCombinations
from tabprotect.microdata.mask import mask
from tabprotect.microdata.masked import Masked, Step
from tabprotect.microdata.masking.coding import BottomCoding, TopCoding
from tabprotect.microdata.masking.companions import HouseholdNumbers, WeightNoise
from tabprotect.microdata.masking.compression import LossyCompression
from tabprotect.microdata.masking.generalisation.constraints import Closeness, Diversity
from tabprotect.microdata.masking.generalisation.full_domain import Generalisation
from tabprotect.microdata.masking.generalisation.ladders import Intervals, Prefixes, Steps, Tree
from tabprotect.microdata.masking.generalisation.mondrian import Mondrian
from tabprotect.microdata.masking.markov import pram_estimate
from tabprotect.microdata.masking.massc import calibration as _calibration  # noqa: F401 (registers its checker)
from tabprotect.microdata.masking.massc.method import MASSC
from tabprotect.microdata.masking.microaggregation import FuzzyMicroaggregation, Microaggregation
from tabprotect.microdata.masking.noise import Noise
from tabprotect.microdata.masking.pram import PRAM
from tabprotect.microdata.masking.random_response import RandomResponse, random_response_estimate
from tabprotect.microdata.masking.rank_swapping import RankSwapping
from tabprotect.microdata.masking.recoding import GlobalRecoding
from tabprotect.microdata.masking.record_swapping import RecordSwapping
from tabprotect.microdata.masking.resampling import Resampling
from tabprotect.microdata.masking.rounding import Rounding
from tabprotect.microdata.masking.sampling import Sampling
from tabprotect.microdata.masking.suppression.local import LocalSuppression
from tabprotect.microdata.masking.swapping import Swapping
from tabprotect.microdata.method import Method, make_method, methods
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.regions import RegionalIndicators, regional_indicators
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.synthesis.blank_and_impute import BlankAndImpute
from tabprotect.microdata.synthesis.combining import (
    CombinedEstimate,
    combine_fully_synthetic,
    combine_partially_synthetic,
)
from tabprotect.microdata.synthesis.entropy import MaximumEntropy
from tabprotect.microdata.synthesis.gaussian import Bootstrap, Cholesky
from tabprotect.microdata.synthesis.hybrid import HybridMasking
from tabprotect.microdata.synthesis.imputation import MultipleImputation, PartiallySynthetic
from tabprotect.microdata.synthesis.ipso import IPSO
from tabprotect.microdata.synthesis.latin_hypercube import LatinHypercube
from tabprotect.microdata.synthesis.sequential import SequentialTrees
from tabprotect.microdata.synthesis.smike import SMIKe
from tabprotect.microdata.unsafe import UnsafeCombinations, unsafe_combinations

__all__ = [
    "IPSO",
    "MASSC",
    "PRAM",
    "BlankAndImpute",
    "Bootstrap",
    "BottomCoding",
    "Check",
    "Cholesky",
    "Claim",
    "Closeness",
    "CombinedEstimate",
    "Diversity",
    "FuzzyMicroaggregation",
    "Generalisation",
    "GlobalRecoding",
    "HouseholdNumbers",
    "HybridMasking",
    "InputError",
    "Intervals",
    "KeyFrequencies",
    "Large",
    "LargeMasked",
    "LargeUnsafeCombinations",
    "LatinHypercube",
    "LocalSuppression",
    "LossyCompression",
    "Masked",
    "MaximumEntropy",
    "Method",
    "Microaggregation",
    "Mondrian",
    "MultipleImputation",
    "Noise",
    "PartiallySynthetic",
    "Prefixes",
    "RandomResponse",
    "RankSwapping",
    "RecordSwapping",
    "Records",
    "RegionalIndicators",
    "Resampling",
    "Rounding",
    "SMIKe",
    "Sampling",
    "Scale",
    "Schema",
    "SequentialTrees",
    "Step",
    "Steps",
    "Swapping",
    "TopCoding",
    "Tree",
    "UnsafeCombinations",
    "Verification",
    "WeightNoise",
    "choosing",
    "claim_kinds",
    "combine_fully_synthetic",
    "combine_partially_synthetic",
    "key_frequencies",
    "make_method",
    "mask",
    "methods",
    "pram_estimate",
    "random_response_estimate",
    "read_records",
    "regional_indicators",
    "risk",
    "unsafe_combinations",
    "utility",
]
