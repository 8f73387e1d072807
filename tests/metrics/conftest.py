import pytest

from condensity.datasets import illustrative


@pytest.fixture(scope="module")
def bimodal():
    problem = illustrative("bimodal")
    X, y = problem.sample(400, random_state=0)
    return problem.conditional(X), y
