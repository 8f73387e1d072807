"""The page and Python give the same numbers, for every kind of model."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.path import Path
from scipy.special import ndtr

import explored
from condensity.explorer import write_report
from condensity.explorer.exported_model import ExportedModel
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import Constant, Plane

LEVELS = [0.001, 0.05, 0.5, 0.8, 0.999]
ROWS = [0, 7, 31]

JOINT = "([X, Y]) => X.map((x, i) => condensity.pdf(x, Y[i]))"
MARGINAL = """([X, j, ys, levels]) => X.map((x, i) => {
  const line = condensity.at(x).marginal(j);
  return {
    pdf: line.pdf(ys[i]), cdf: line.cdf(ys[i]), prob: line.prob(ys[i], ys[i] + 1),
    quantile: levels.map((q) => line.quantile(q)), mean: line.mean(), std: line.sd(),
    hdr: line.hdr(0.9), narrow: line.hdr(0.3), modes: line.modes(),
  };
})"""


def asked():
    """Inputs among the samples, between them and beyond them, also where locations are limited."""
    X = explored.X
    far = X.mean(axis=0) + 6 * X.std(axis=0)
    return np.vstack([X[ROWS], X.mean(axis=0), far, X.mean(axis=0) - 40 * X.std(axis=0)])


@pytest.mark.parametrize("kind", explored.MAKERS)
def test_page_and_python_agree(kind, visit, report):
    model, y = explored.fitted(kind)
    X = asked()
    dist = model.predict_dist(X)
    Y = np.asarray(y, dtype=float).reshape(len(y), -1)[[*ROWS, 50, 60, 70]]
    page = visit(report(kind))
    found = page.evaluate(JOINT, [X.tolist(), Y.tolist()])
    np.testing.assert_allclose(found, dist.pdf(Y), rtol=1e-10)
    for j in range(Y.shape[1]):
        own = dist.marginal(j) if Y.shape[1] > 1 else dist
        check_marginal(
            page.evaluate(MARGINAL, [X.tolist(), j, Y[:, j].tolist(), LEVELS]), own, Y, j
        )


def check_marginal(found, own, Y, j):
    def column(name):
        return np.array([row[name] for row in found])

    np.testing.assert_allclose(column("pdf"), own.pdf(Y[:, j]), rtol=1e-10)
    np.testing.assert_allclose(column("cdf"), own.cdf(Y[:, j]), rtol=1e-10)
    np.testing.assert_allclose(column("prob"), own.prob(Y[:, j], Y[:, j] + 1), rtol=1e-10)
    np.testing.assert_allclose(column("quantile"), own.quantile(LEVELS), rtol=1e-9)
    np.testing.assert_allclose(column("mean"), own.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(column("std"), own.std(), rtol=1e-8)
    regions = (("hdr", own.hdr(0.9)), ("narrow", own.hdr(0.3)), ("modes", own.modes()))
    for name, expected in regions:
        for row, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(row[name], theirs, rtol=1e-7, atol=1e-8, err_msg=name)


def test_inputs_at_the_thresholds_of_trees_go_the_same_way(visit, report):
    """Trees compare inputs in single precision, so the rounding of an input decides."""
    model, _ = explored.fitted("tree location")
    *_, (_, part) = model._density.parts
    trees, scaling, rows = part.location, part.scaling, []
    inner = np.flatnonzero(trees.below != np.arange(len(trees.below)))
    for node in inner[:: len(inner) // 150]:
        for near in (-1e-8, -1e-12, 1e-12, 1e-8):
            j, row = trees.feature[node], explored.X[len(rows) % 100].copy()
            row[j] = scaling.mean[j] + scaling.sd[j] * trees.threshold[node] * (1 + near)
            rows.append(row)
    found = visit(report("tree location")).evaluate(
        "(X) => X.map((x) => condensity.at(x).marginal(0).mean())", np.array(rows).tolist()
    )
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-9, atol=1e-12)


def test_weighted_sums_of_locations_may_contain_others(visit, tmp_path):
    model, y = explored.fitted("flexible location, two outputs")
    *_, (_, part) = model._density.parts
    plane = Plane(np.array([0.3, -0.2]), np.linspace(-1, 1, 8).reshape(4, 2))
    constant = Constant(np.array([2.0, 1.0]))
    inner = WeightedFunctions((0.5, 0.25, 0.25), (part.location, plane, plane))
    nested = replace(part, location=WeightedFunctions((0.4, 0.6), (constant, inner)))
    model = copy(model)
    model._density = replace(model._density, parts=((1.0, nested),))
    page = visit(write_report(model, tmp_path / "nested.html", X=explored.X, y=y))
    found = page.evaluate(JOINT, [asked().tolist(), y[:6].tolist()])
    np.testing.assert_allclose(found, model.predict_dist(asked()).pdf(y[:6]), rtol=1e-10)


def test_parts_with_the_same_location_share_it():
    model, _ = explored.fitted("flexible location, two outputs")
    data = ExportedModel.of(model).as_page_data()
    assert len(data["parts"]) > 1
    assert len(data["frames"]) == 1
    data = ExportedModel.of(explored.fitted("several locations")[0]).as_page_data()
    assert {part["frame"] for part in data["parts"]} == {0, 1, 2}


def test_the_normal_law_has_all_its_digits(visit, report):
    z = np.concatenate([np.linspace(-37, 37, 1001), [-1e-9, 0.0, 1.3258, -1.3258]])
    found = visit(report("LSCDE")).evaluate("(z) => z.map(condensity.normalCdf)", z.tolist())
    np.testing.assert_allclose(found, ndtr(z), rtol=1e-12)


@pytest.mark.parametrize("kind", ["several members", "published", "Reduced"])
def test_the_summary_is_what_transform_gives(kind, visit, report):
    model, _ = explored.fitted(kind)
    found = visit(report(kind)).evaluate("(X) => X.map(condensity.reduce)", asked().tolist())
    np.testing.assert_allclose(found, model.transform(asked()), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in explored.MAKERS if "two outputs" in kind])
def test_regions_of_two_outputs_hold_what_they_say(kind, visit, report):
    model, _ = explored.fitted(kind)
    levels, x = [0.5, 0.8, 0.95], explored.X[7]
    call = "([x, levels]) => condensity.regions(x, 1, 0, levels)"
    found = visit(report(kind)).evaluate(call, [x.tolist(), levels])
    draws = model.predict_dist([x]).sample(20_000, random_state=0)[0][:, ::-1]
    for level, lines in zip(levels, found, strict=True):
        # Inside of an odd number of lines: a hole is no part of a region.
        inside = sum(Path(line).contains_points(draws).astype(int) for line in lines) % 2
        assert inside.mean() == pytest.approx(level, abs=0.02)
