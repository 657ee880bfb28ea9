"""Random expressions, with an independent way to evaluate them."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")

# text of an expression; Python itself evaluates it in the tests
leaves = st.one_of(st.sampled_from(NAMES), st.integers(-9, 9).map(lambda n: f"({n})"))
texts = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.integers(0, 3)).map(lambda t: f"({t[0]})**{t[1]}"),
        inner.map(lambda t: f"(-{t})"),
    ),
    max_leaves=7,
)


def plain(text: str, values: Mapping[str, int]) -> int:
    """Evaluate in Python's own whole numbers."""
    return int(eval(text, {"__builtins__": {}}, dict(values)))  # noqa: S307 - texts come from the strategy above
