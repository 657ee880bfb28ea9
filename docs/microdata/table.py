"""Write the table of `methods.md`: ``python docs/microdata/table.py``.

What the papers call a method, where they have it, and where it is tested stands here; scales and claims come from the
methods themselves. `tests/docs/test_microdata.py` compares the page with this, and looks for every test.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tabprotect.microdata as md

PAGE = Path(__file__).parent / "methods.md"
BEGIN, END = "<!-- table: python docs/microdata/table.py -->\n", "<!-- end of the table -->\n"

M = "tests/microdata/masking"
GROUPS = f"{M}/microaggregation"
WARD = f"{GROUPS}/test_partitions.py::test_ward_on_the_six_vectors_of_the_notebook_depends_on_the_extreme_taken_first"
NUMBERS, IMPUTED = "tests/microdata/synthesis/test_numbers.py", "tests/microdata/synthesis/test_imputed.py"
VALUES, NOISE, PRAM, SWAPS = (f"{M}/test_{name}.py" for name in ("values", "noise", "pram", "swapping"))


@dataclass(frozen=True)
class Row:
    """A method of the papers.

    Attributes
    ----------
    papers : str
        What they call it, and where.
    here : str
        The class of `tabprotect.microdata`, or what else does it; parameters after a blank.
    guide : str
        Page and section of the guide.
    tests : tuple of str
        ``path::test``.
    """

    papers: str
    here: str
    guide: str
    tests: tuple[str, ...]


ROWS: dict[str, tuple[Row, ...]] = {
    "Non-perturbative (survey, section 4.1 and Fig. 4; Eustat, restriction methods and mu-ARGUS)": (
        Row(
            "Sampling (Fig. 4)",
            "Sampling",
            "non-perturbative.md#sampling",
            (
                f"{M}/test_sampling.py::test_totals_are_estimated_without_bias",
                f"{M}/test_sampling.py::test_each_record_is_drawn_with_its_probability",
            ),
        ),
        Row(
            "Local suppression (Fig. 4; Eustat, mu-ARGUS)",
            "LocalSuppression",
            "non-perturbative.md#local-suppression",
            (
                f"{M}/suppression/test_local.py::test_the_reference_file_needs_283_blanks",
                f"{M}/suppression/test_local.py::test_the_method_pays_what_the_algebraic_model_pays",
            ),
        ),
        Row(
            "Global recoding (Fig. 4; Eustat, mu-ARGUS); .grc files",
            "GlobalRecoding",
            "non-perturbative.md#recoding",
            (
                f"{M}/test_recoding.py::test_figure_7_of_the_survey",
                f"{M}/test_recoding.py::test_the_recodings_of_the_notebook_are_a_grc_file",
            ),
        ),
        Row(
            "Open classes at both ends of a variable",
            "GlobalRecoding `bottom`, `top`, `cuts`, or `rules` from `open_classes`",
            "non-perturbative.md#recoding",
            (
                f"{M}/test_recoding.py::test_intervals_hold_their_values",
                f"{M}/test_record_swapping.py::test_open_classes_of_a_table_recode_the_records",
            ),
        ),
        Row(
            "Top-coding (Fig. 4; Eustat)",
            "TopCoding",
            "non-perturbative.md#recoding",
            (
                "tests/microdata/test_mask.py::test_the_same_kind_comes_out_and_nothing_that_came_in_changes",
                f"{VALUES}::test_tails_of_fitted_distributions",
            ),
        ),
        Row(
            "Bottom-coding (Fig. 4; Eustat)",
            "BottomCoding",
            "non-perturbative.md#recoding",
            (
                "tests/microdata/test_mask.py::test_the_same_kind_comes_out_and_nothing_that_came_in_changes",
                f"{VALUES}::test_a_quantile_counts_weights",
            ),
        ),
        Row(
            "Generalization (Fig. 4): the whole domain",
            "Generalisation",
            "non-perturbative.md#generalisation",
            (
                f"{M}/generalisation/test_full_domain.py::test_no_node_of_the_lattice_is_better",
                f"{M}/generalisation/test_full_domain.py::test_adult_with_nine_keys_is_optimal",
            ),
        ),
        Row(
            "Generalization (Fig. 4): local recoding",
            "Mondrian",
            "non-perturbative.md#generalisation",
            (f"{M}/generalisation/test_mondrian.py::test_classes_have_k_records_and_true_labels",),
        ),
        Row(
            "Noise on sampling weights (Eustat, mu-ARGUS)",
            "WeightNoise",
            "non-perturbative.md#weights-households-regions",
            (f"{M}/test_companions.py::test_weights_stay_near_and_add_up",),
        ),
        Row(
            "Household identifiers (Eustat, mu-ARGUS)",
            "HouseholdNumbers",
            "non-perturbative.md#weights-households-regions",
            (f"{M}/test_companions.py::test_households_of_a_real_file_are_renumbered",),
        ),
        Row(
            "Household variables (Eustat, mu-ARGUS)",
            "LocalSuppression `together`",
            "non-perturbative.md#local-suppression",
            (f"{M}/suppression/test_local.py::test_households_are_blanked_together_at_the_least_cost",),
        ),
        Row(
            "Table of unsafe combinations (Eustat, mu-ARGUS)",
            "unsafe_combinations",
            "non-perturbative.md#which-combinations-are-unsafe",
            ("tests/microdata/test_unsafe.py::test_every_count_is_that_of_the_records",),
        ),
        Row(
            "Regional indicators (Eustat, mu-ARGUS)",
            "regional_indicators",
            "non-perturbative.md#weights-households-regions",
            ("tests/microdata/test_regions.py::test_the_shortest_combinations_that_leave_too_little",),
        ),
        Row(
            "Removal of granularity (Eustat, micro-tables)",
            "tabprotect.methods.granularity.remove_granularity",
            "../other-methods.md",
            ("tests/methods/granularity/test_granularity.py::test_result_is_safe_and_only_coarser",),
        ),
    ),
    "Perturbative (survey, section 4.2 and Fig. 5; Eustat, perturbation methods; Singh et al.)": (
        Row(
            "Resampling (Fig. 5, Fig. 8)",
            "Resampling",
            "perturbative.md#resampling-rounding-compression",
            (f"{VALUES}::test_figure_8",),
        ),
        Row(
            "Lossy compression (Fig. 5)",
            "LossyCompression",
            "perturbative.md#resampling-rounding-compression",
            (f"{VALUES}::test_the_lower_the_quality_the_stronger_the_change",),
        ),
        Row(
            "Rounding (Fig. 5): univariate, multivariate; random rounding (Eustat)",
            "Rounding",
            "perturbative.md#resampling-rounding-compression",
            (
                f"{VALUES}::test_rounding_of_the_survey",
                f"{VALUES}::test_random_rounding_is_unbiased",
                f"{VALUES}::test_records_go_to_the_nearest_point",
            ),
        ),
        Row(
            "PRAM (Fig. 5): given, invariant, optimal matrices",
            "PRAM",
            "perturbative.md#pram",
            (
                f"{PRAM}::test_the_invariant_matrix_keeps_counts_and_floor",
                f"{PRAM}::test_the_optimal_matrix_is_that_of_the_algebraic_model",
            ),
        ),
        Row(
            "MASSC (Fig. 5; Singh et al., section 5): micro agglomeration, substitution, subsampling, calibration",
            "MASSC",
            "perturbative.md#massc",
            (
                f"{M}/massc/test_massc.py::test_risk_strata_of_table_6_1",
                f"{M}/massc/test_massc.py::test_partners_differ_and_are_the_nearest",
                f"{M}/massc/test_massc.py::test_designs_are_those_of_the_stated_programmes",
                f"{M}/massc/test_massc.py::test_the_released_file",
            ),
        ),
        Row(
            "Random noise (Fig. 5, Fig. 9; Eustat, adding noise): uncorrelated, correlated, linear transformation, "
            "multiplicative, ROMM",
            "Noise",
            "perturbative.md#noise",
            (
                f"{NOISE}::test_figure_9_has_the_variance_that_arithmetic_gives",
                f"{NOISE}::test_errors_have_the_stated_covariance",
                f"{NOISE}::test_exact_kinds_keep_means_and_covariances_of_any_data",
            ),
        ),
        Row(
            "Swapping (Fig. 5, Fig. 10; Eustat, data swapping)",
            "Swapping",
            "perturbative.md#swapping",
            (
                f"{SWAPS}::test_the_swaps_of_figure_10_are_what_the_claim_says",
                f"{SWAPS}::test_swapping_keeps_all_tables_of_swapped_and_matching_columns",
            ),
        ),
        Row(
            "Swapping of those at risk (targeted)",
            "RecordSwapping",
            "perturbative.md#record-swapping",
            (
                f"{M}/test_record_swapping.py::test_it_is_the_swapping_of_the_tables",
                f"{M}/test_record_swapping.py::test_places_change_and_tables_of_similar_columns_stay",
            ),
        ),
        Row(
            "Rank swapping (Fig. 5, Fig. 11): by rank, by range, p-distribution",
            "RankSwapping",
            "perturbative.md#rank-swapping",
            (
                f"{SWAPS}::test_the_rank_swaps_of_figure_11_are_within_a_tenth_of_the_range",
                f"{SWAPS}::test_rank_swapping_stays_within_its_ranks",
            ),
        ),
    ),
    "Microaggregation (survey, Fig. 5; Eustat; Torra)": (
        Row(
            "Micro-aggregation (Fig. 5, Fig. 11): given groups",
            'Microaggregation `method="given"`',
            "microaggregation.md",
            (f"{GROUPS}/test_method.py::test_figure_11_of_the_survey",),
        ),
        Row(
            "MDAV (Torra)",
            'Microaggregation `method="mdav"`',
            "microaggregation.md#which-method",
            (
                f"{GROUPS}/test_partitions.py::test_mdav_is_what_is_printed",
                f"{GROUPS}/test_partitions.py::test_mdav_loses_what_the_literature_reports",
            ),
        ),
        Row(
            "V-MDAV",
            'Microaggregation `method="v-mdav"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_v_mdav_grows_groups_where_mdav_cuts_clusters",),
        ),
        Row(
            "Single-axis sorting (Eustat): principal component, sum of z-scores, a variable",
            'Microaggregation `method="single-axis"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_method.py::test_every_claim_holds_and_the_same_seed_gives_the_same",),
        ),
        Row(
            "Individual sorting (Eustat)",
            'Microaggregation `method="individual"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_individual_ranking_loses_what_the_literature_reports",),
        ),
        Row(
            "Optimal univariate (Torra, section 4)",
            'Microaggregation `method="individual-optimal"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_the_shortest_path_is_best_on_one_variable",),
        ),
        Row(
            "MHM on orders of the records",
            'Microaggregation `method="mhm"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_local_search_reaches_the_best_of_the_literature",),
        ),
        Row(
            "Genetic microaggregation (Eustat)",
            'Microaggregation `method="genetic"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_genetic_is_between_fixed_and_best_segments",),
        ),
        Row(
            "Modified Ward's algorithm (Eustat): univariate, multivariate",
            'Microaggregation `method="ward"`',
            "microaggregation.md#which-method",
            (WARD,),
        ),
        Row(
            "Exact, with a bound for all sizes",
            'Microaggregation `method="exact"`',
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_exact_is_what_enumeration_finds_and_bounds_are_below",),
        ),
        Row(
            "Local search",
            "Microaggregation `improve`, `trials`",
            "microaggregation.md#which-method",
            (f"{GROUPS}/test_partitions.py::test_local_search_reaches_the_best_of_the_literature",),
        ),
        Row(
            "Categories: medians, modes (Eustat; Torra)",
            "Microaggregation `aggregate`",
            "microaggregation.md#which-method",
            (
                f"{GROUPS}/test_method.py::test_categories_get_medians_and_modes",
                f"{GROUPS}/test_method.py::test_value_trees_measure_the_path_between_values",
            ),
        ),
        Row(
            "Fuzzy c-means (Torra, section 5)",
            "FuzzyMicroaggregation",
            "microaggregation.md#what-an-intruder-learns-who-knows-the-method",
            (
                f"{GROUPS}/test_fuzzy.py::test_memberships_are_those_of_step_3",
                f"{GROUPS}/test_fuzzy.py::test_centres_are_stationary",
            ),
        ),
        Row(
            "Transparency attacks (Torra, section 4)",
            "risk.transparency",
            "microaggregation.md#what-an-intruder-learns-who-knows-the-method",
            ("tests/microdata/risk/test_transparency.py::test_candidates_are_those_of_the_definition",),
        ),
    ),
    "Fully synthetic (survey, section 5.1 and Fig. 12)": (
        Row(
            "Bootstrap (Fig. 12)",
            "Bootstrap",
            "synthetic.md#numbers",
            (f"{NUMBERS}::test_bootstrap_of_a_fitted_distribution",),
        ),
        Row(
            "Cholesky decomposition (Fig. 12)",
            "Cholesky",
            "synthetic.md#exact-means-and-covariances",
            (f"{NUMBERS}::test_cholesky_keeps_means_and_covariances_exactly",),
        ),
        Row(
            "Multiple imputation (Fig. 12)",
            "MultipleImputation",
            "synthetic.md#several-replicates",
            (f"{IMPUTED}::test_multiple_imputation_releases_nobody_of_the_file", f"{IMPUTED}::test_combining_rules"),
        ),
        Row(
            "Maximum entropy (Fig. 12)",
            "MaximumEntropy",
            "synthetic.md#maximum-entropy",
            (
                f"{IMPUTED}::test_no_distribution_with_the_same_margins_has_more_entropy",
                f"{IMPUTED}::test_maximum_entropy_holds_tables_and_moments",
            ),
        ),
        Row(
            "Latin Hypercube Sampling (Fig. 12)",
            "LatinHypercube",
            "synthetic.md#numbers",
            (f"{NUMBERS}::test_latin_hypercube_has_the_marginals_and_rank_correlations",),
        ),
        Row(
            "Sequential trees (CART), with margins held",
            "SequentialTrees",
            "synthetic.md#trees",
            (f"{IMPUTED}::test_sequential_trees_keep_relations_and_margins",),
        ),
    ),
    "Partially synthetic (survey, section 5.2 and Fig. 13)": (
        Row(
            "IPSO (Fig. 13): A, B, C",
            "IPSO",
            "synthetic.md#exact-means-and-covariances",
            (
                f"{NUMBERS}::test_ipso_keeps_what_its_variant_says",
                f"{NUMBERS}::test_ipso_a_keeps_the_regression_in_expectation",
            ),
        ),
        Row(
            "Hybrid masking (Fig. 13)",
            "HybridMasking",
            "synthetic.md#numbers",
            (f"{NUMBERS}::test_hybrid_values_lie_between_both",),
        ),
        Row(
            "Random response (Fig. 13)",
            "RandomResponse",
            "perturbative.md#random-response",
            (f"{PRAM}::test_random_response_can_be_estimated",),
        ),
        Row(
            "Blank and impute (Fig. 13, Fig. 14)",
            "BlankAndImpute",
            "synthetic.md#blank-and-impute",
            (f"{NUMBERS}::test_figure_14", f"{NUMBERS}::test_categories_are_imputed_by_mode_or_draw"),
        ),
        Row(
            "SMIKe (Fig. 13)",
            "SMIKe",
            "synthetic.md#smike",
            (f"{IMPUTED}::test_selective_imputation_touches_mixing_sets_only",),
        ),
        Row(
            "Multiply imputed partially synthetic dataset (Fig. 13)",
            "PartiallySynthetic",
            "synthetic.md#several-replicates",
            (
                f"{IMPUTED}::test_partially_synthetic_records_keep_everything_else",
                f"{IMPUTED}::test_combined_intervals_cover_the_truth",
            ),
        ),
    ),
}


def kind_of(row: Row) -> type[md.Method] | None:
    """Return the method of a row; None for a function."""
    kind = getattr(md, row.here.partition(" ")[0], None)
    return kind if isinstance(kind, type) and issubclass(kind, md.Method) else None


def line(row: Row) -> str:
    """Return a row of the table."""
    name, _, parameters = row.here.partition(" ")
    kind = kind_of(row)
    scales = ", ".join(kind.scales) if kind else "any"
    claims = ", ".join(kind.claim_kinds) if kind else "measures or makes a report"
    if kind is not None and len(kind.scales) == len(md.Scale):
        scales = "any"
    tests = "<br>".join(f"`{test}`" for test in row.tests)
    return f"| {row.papers} | [`{name}`]({row.guide}) {parameters} | {scales} | {claims or 'none'} | {tests} |"


def table() -> str:
    """Return the whole table."""
    head = "| method of the papers | name here | scales | claims | where tested |\n| --- | --- | --- | --- | --- |"
    return "\n".join(f"## {title}\n\n{head}\n" + "\n".join(map(line, rows)) + "\n" for title, rows in ROWS.items())


def page(text: str) -> str:
    """Return the page with the table of today."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE}")
