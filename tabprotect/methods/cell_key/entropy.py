"""The distribution of largest entropy on given points with mean 0 and a given second moment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.errors import SolverError
from tabprotect.solver.tolerances import MOMENT_ACCURACY, MOMENT_EDGE

__all__ = ["maximum_entropy", "second_moments"]

Floats = npt.NDArray[np.float64]


def second_moments(points: Floats) -> tuple[float, float]:
    """Return the smallest and largest second moment of distributions of mean 0 on points around 0.

    For mean 0 between points a <= 0 <= b the second moment is -ab; it is least for the nearest and largest for the
    farthest points.

    Examples
    --------
    >>> second_moments(np.array([-1.0, 2, 3]))
    (2.0, 3.0)
    """
    near = -float(points[points <= 0].max()) * float(points[points >= 0].min())
    return near + 0.0, -float(points.min()) * float(points.max()) + 0.0


def maximum_entropy(points: Floats, second: float) -> Floats:
    """Return probabilities p on points v with sum p = 1, sum p v = 0, sum p v^2 = `second` and the largest entropy.

    They are p = exp(a v + b v^2) / Z; a and b minimise the convex function log Z - b * second (Newton's method).

    Parameters
    ----------
    points : ndarray
        Different numbers, not all on one side of 0.
    second : float
        Between the `second_moments` of the points.

    Raises
    ------
    SolverError
        If the moments are not met in the end.

    Examples
    --------
    >>> maximum_entropy(np.array([-1.0, 0, 1]), 0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    size = float(np.abs(points).max()) or 1.0
    v, wanted = points / size, second / size**2
    least, most = second_moments(v)
    for bound, ends in ((least, _near(v)), (most, (int(v.argmin()), int(v.argmax())))):
        if abs(wanted - bound) <= MOMENT_EDGE:
            return _on_two(v, *ends)
    moments = np.stack([v, v**2])
    target = np.array([0.0, wanted])
    x = np.zeros(2)
    value, p = _dual(x, moments, target)
    for _ in range(200):
        gradient = moments @ p - target
        off = np.abs(gradient).max()
        if off <= MOMENT_ACCURACY:
            return np.asarray(p)
        centred = moments - (moments @ p)[:, None]
        step = -np.linalg.lstsq((centred * p) @ centred.T, gradient, rcond=None)[0]
        length = 1.0
        while length > 1e-12:
            new, q = _dual(x + length * step, moments, target)
            # near the end the value cannot tell steps apart any more, but the gradient can
            if new < value + 1e-4 * length * float(gradient @ step) or np.abs(moments @ q - target).max() < off / 2:
                break
            length /= 2
        else:
            break
        x, value, p = x + length * step, new, q
    gradient = moments @ p - target
    if np.abs(gradient).max() > 1e3 * MOMENT_ACCURACY:
        raise SolverError(f"no distribution of second moment {second:g} was found: off by {np.abs(gradient).max():g}")
    return np.asarray(p)


def _dual(x: Floats, moments: Floats, target: Floats) -> tuple[float, Floats]:
    exponent = x @ moments
    top = float(exponent.max())
    weight = np.exp(exponent - top)
    return top + float(np.log(weight.sum())) - float(x @ target), weight / weight.sum()


def _near(v: Floats) -> tuple[int, int]:
    below, above = np.flatnonzero(v <= 0), np.flatnonzero(v >= 0)
    return int(below[v[below].argmax()]), int(above[v[above].argmin()])


def _on_two(v: Floats, below: int, above: int) -> Floats:
    """Return the distribution of mean 0 on two points (or on 0)."""
    p = np.zeros(len(v))
    if v[below] == 0 or v[above] == 0:
        p[below if v[below] == 0 else above] = 1.0
        return p
    p[below], p[above] = v[above] / (v[above] - v[below]), -v[below] / (v[above] - v[below])
    return p
