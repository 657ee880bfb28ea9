"""Disclosure risk of microdata: of the file and of every record."""

from __future__ import annotations

from tabprotect.microdata.risk.anonymity import k_anonymity, l_diversity, t_closeness
from tabprotect.microdata.risk.attribute import attribute_disclosure
from tabprotect.microdata.risk.clusters import cluster_linkage
from tabprotect.microdata.risk.combinations import unsafe_combinations
from tabprotect.microdata.risk.deterministic import deterministic_linkage
from tabprotect.microdata.risk.individual import household_risk, individual_risk
from tabprotect.microdata.risk.interval import interval_disclosure
from tabprotect.microdata.risk.knowledge import (
    ConsecutiveGroups,
    FuzzyDraw,
    Knowledge,
    RankDraw,
    RankWindow,
    ValueWindow,
)
from tabprotect.microdata.risk.known_noise import AddedNoise, MultipliedNoise
from tabprotect.microdata.risk.learned import learned_linkage
from tabprotect.microdata.risk.linkage import assignment_linkage, distance_linkage, rank_linkage
from tabprotect.microdata.risk.massc import massc_risk
from tabprotect.microdata.risk.population.loglinear import log_linear_risk
from tabprotect.microdata.risk.population.uniques import (
    dirichlet_multinomial_uniques,
    pitman_uniques,
    poisson_gamma_uniques,
    zayatz_uniques,
)
from tabprotect.microdata.risk.probabilistic import probabilistic_linkage
from tabprotect.microdata.risk.suda import suda
from tabprotect.microdata.risk.transparency import TransparencyRisk, transparency
from tabprotect.microdata.risk.truta.measure import global_risk
from tabprotect.microdata.risk.uniqueness import data_intrusion_simulation, population_uniqueness, sample_uniqueness

__all__ = [
    "AddedNoise",
    "ConsecutiveGroups",
    "FuzzyDraw",
    "Knowledge",
    "MultipliedNoise",
    "RankDraw",
    "RankWindow",
    "TransparencyRisk",
    "ValueWindow",
    "assignment_linkage",
    "attribute_disclosure",
    "cluster_linkage",
    "data_intrusion_simulation",
    "deterministic_linkage",
    "dirichlet_multinomial_uniques",
    "distance_linkage",
    "global_risk",
    "household_risk",
    "individual_risk",
    "interval_disclosure",
    "k_anonymity",
    "l_diversity",
    "learned_linkage",
    "log_linear_risk",
    "massc_risk",
    "pitman_uniques",
    "poisson_gamma_uniques",
    "population_uniqueness",
    "probabilistic_linkage",
    "rank_linkage",
    "sample_uniqueness",
    "suda",
    "t_closeness",
    "transparency",
    "unsafe_combinations",
    "zayatz_uniques",
]
