"""Coverage in groups."""

import numpy as np
import pytest

from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.metrics import reliability_by_group


def test_reliability_by_group_is_the_share_of_each_group():
    rng = np.random.default_rng(0)
    dist = Mixture([Block(np.zeros((400, 1)), np.zeros((1, 1)), np.eye(1))])
    groups = np.repeat(["wide", "right"], 200)
    y = np.where(groups == "wide", 3.0, 1.0) * rng.standard_normal(400)
    for region in ("interval", "hpd"):
        table = reliability_by_group(dist, y, groups, [0.5, 0.9], region)
        assert table["group"].tolist() == ["right", "right", "wide", "wide"]
        for k, (group, level) in enumerate(zip(table["group"], table["level"], strict=True)):
            low, high = dist.interval(level)[0]
            inside = ((y >= low) & (y <= high))[groups == group]
            assert table["coverage"][k] == pytest.approx(inside.mean())
            assert table["n"][k] == 200
            assert table["standard_error"][k] == pytest.approx(np.sqrt(level * (1 - level) / 200))
            assert (table["pvalue"][k] < 0.001) == (group == "wide")


def test_groups_without_a_label_for_each_density_are_refused():
    dist = Mixture([Block(np.zeros((2, 1)), np.zeros((1, 1)), np.eye(1))])
    with pytest.raises(ValueError, match="one label for each density"):
        reliability_by_group(dist, np.zeros(2), [0, 1, 1])
