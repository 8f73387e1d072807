"""What is kept of a fit to answer without its samples."""

from dataclasses import replace

import numpy as np

from condensity.locations.location import constant_location
from condensity.members.averaged import AveragedMembers
from condensity.members.member import MemberView, OutputKernels
from problems import random_sample, random_subspace


def members_and_more(*, weightless):
    """A view, its components, and two members that agree on centres ``weightless``."""
    sample = random_sample(0, n=40, dx=4)
    view = MemberView.of(sample, np.zeros(40), np.arange(0, 40, 2), constant_location)
    outputs = OutputKernels.build(view, 0.4)
    fits = [outputs.fit(random_subspace(j, 2, 4), 0.7, (0.1,)) for j in range(2)]
    for fit in fits:
        fit.alphas[:, weightless] = 0.0
    return view, outputs.components, fits, sample.X


def test_centres_without_weight_are_left_out_and_answers_stay():
    weightless = [0, 5, 6]
    view, components, fits, X = members_and_more(weightless=weightless)
    kept = AveragedMembers.of(view, components, fits)
    stay = [k for k in range(21) if any(fit.alphas[0, k] > 0 for fit in fits)]
    assert stay[-1] == 20  # the background
    assert not set(stay) & set(weightless)
    whole = replace(kept, components=components, members=fits)
    np.testing.assert_allclose(kept.weights(X), whole.weights(X)[:, stay], rtol=1e-13)
    np.testing.assert_array_equal(kept.components.centers, components.centers[stay])
    np.testing.assert_allclose(kept.weights(X).sum(axis=1), 1.0)


def test_where_no_centre_has_weight_there_is_still_one_to_tell_the_width():
    view, components, fits, X = members_and_more(weightless=np.arange(20))
    kept = AveragedMembers.of(view, components, fits)
    assert len(kept.components.centers) == 21
    np.testing.assert_array_equal(kept.weights(X)[:, -1], 1.0)
