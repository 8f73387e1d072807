"""Normal density and distribution function, compared with scipy."""

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from condensity.distributions._univariate import kernel_and_cdf

CLOSE, FAR_OUT = np.linspace(-8.0, 8.0, 20001), np.linspace(-37.0, -8.0, 5001)


def test_cdf_equals_scipy():
    np.testing.assert_allclose(kernel_and_cdf(CLOSE)[1], ndtr(CLOSE), rtol=2e-14)


def test_cdf_is_accurate_in_the_far_tail():
    # Both sides round the exponent, which is up to 684 there.
    np.testing.assert_allclose(kernel_and_cdf(FAR_OUT)[1], np.exp(log_ndtr(FAR_OUT)), rtol=4e-13)


def test_kernel_equals_the_exponential():
    for z in (CLOSE, FAR_OUT):
        np.testing.assert_allclose(kernel_and_cdf(z)[0], np.exp(-0.5 * z**2), rtol=4e-13)


@pytest.mark.parametrize(("z", "rtol"), [(CLOSE, 4e-6), (np.linspace(-10.0, 0.0, 2001), 1e-5)])
def test_single_precision_input_gives_single_precision_output(z, rtol):
    kernel, below = kernel_and_cdf(z.astype(np.float32))
    assert kernel.dtype == below.dtype == np.float32
    near = z.astype(np.float32).astype(float)
    np.testing.assert_allclose(below, ndtr(near), rtol=rtol)
    np.testing.assert_allclose(kernel, np.exp(-0.5 * near**2), rtol=rtol)


def test_infinite_and_very_large_arguments():
    kernel, below = kernel_and_cdf(np.array([-np.inf, -1e200, 0.0, 1e200, np.inf, np.nan]))
    np.testing.assert_array_equal(kernel, [0, 0, 1, 0, 0, np.nan])
    np.testing.assert_allclose(below, [0, 0, 0.5, 1, 1, np.nan], rtol=1e-15)


def test_the_argument_is_not_changed():
    z = CLOSE.copy()
    kernel_and_cdf(z)
    np.testing.assert_array_equal(z, CLOSE)
