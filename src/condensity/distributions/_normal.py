"""The standard Gaussian for whole arrays: its bell, and how much of it lies below.

scipy's ``ndtr`` takes its branches number by number; here both come from one exponential and a few
dozen multiplications of whole arrays, in half the time.  In a tail ``Phi(-x) = phi(x) M(x)``,
where Mills' ratio M is all but a ratio of two polynomials with positive coefficients, so that
nothing cancels however far out x lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._utils.numerics import LOG2_E

#: ``M(x) / sqrt(2 pi)`` on [0, 38] as a ratio of polynomials, constants first, fitted to the
#: smallest greatest relative error (Lawson's method in 60 digits): 1e-16, and 4e-7 on [0, 14].
DOUBLE = (
    (
        145149.51916611465,
        224755.8476131007,
        172176.8912842513,
        83797.22760259086,
        28274.197527299162,
        6830.744622617666,
        1181.4290930266288,
        141.54453584743788,
        10.740123259108467,
        0.3989422804001199,
    ),
    (
        290299.0383322293,
        681136.8159274036,
        742672.8126253755,
        496801.5917292619,
        226471.11185506097,
        73780.45999783053,
        17474.937273191223,
        2988.3250622440464,
        355.7995357366951,
        26.921496633631175,
    ),
)
SINGLE = (
    (11.6999416, 8.4699744, 2.7969572, 0.39889558),
    (23.399892, 35.609921, 22.310064, 7.0061898),
)
#: Beyond it nothing is left of the bell, in either precision.
FAR = 40.0


def kernel_and_cdf(z: Any) -> tuple[Any, Any]:
    """``exp(-z^2 / 2)`` and ``Phi(z)`` for an array of doubles or of single precision.

    Relative errors of doubles are below 2e-14 up to 8 in either direction, and below 2e-13 down to
    the last Phi that a double holds with all its digits, at -37.5.
    """
    top, bottom = SINGLE if z.dtype == np.float32 else DOUBLE
    x = np.abs(z)
    np.minimum(x, FAR, out=x)
    bell = np.square(x)
    bell *= -0.5 * LOG2_E
    np.exp2(bell, out=bell)
    below = x * top[-1]
    below += top[-2]
    for coefficient in top[-3::-1]:
        below *= x
        below += coefficient
    divisor = x + bottom[-1]  # the highest coefficient is one
    for coefficient in bottom[-2::-1]:
        divisor *= x
        divisor += coefficient
    below /= divisor
    below *= bell
    # |1 - t| above the middle, |0 - t| below it: cheaper than a choice.
    np.subtract(z > 0, below, out=below)
    return bell, np.abs(below, out=below)
