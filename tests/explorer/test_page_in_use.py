"""The page as a reader uses it: by keyboard, on a phone, in the dark, with names of all sorts."""

import re

import numpy as np
import pandas as pd
import pytest

import explored
from condensity.explorer import write_report
from explored import settle

HOSTILE = [
    "</script><img src=x onerror=window.hacked=1>",
    "\"'`><svg onload=window.hacked=1> {{script}} ${window.hacked=1}",
    "\u202eשם בעברית \u2067",
    "🦉" * 8 + " long " + "n" * 4000,
]


def shown_number(page, label):
    text = page.locator("#readings-body tr", has_text=label).locator("td").first.inner_text()
    return [
        float(part)
        for part in text.replace("−", "-")
        .replace("\u202f", "")
        .replace(" to ", ", ")
        .replace("\n", ", ")
        .split(", ")
    ]


def check_numbers(page, model):
    settle(page)
    dist = model.predict_dist([page.evaluate("condensity.inputs()")])
    np.testing.assert_allclose(shown_number(page, "Mean"), dist.mean(), rtol=2e-3, atol=1e-3)
    np.testing.assert_allclose(shown_number(page, "Median"), dist.quantile(0.5), rtol=2e-3)
    region = np.ravel(dist.hdr(0.9)[0])
    np.testing.assert_allclose(shown_number(page, "90 % region"), region, rtol=2e-3, atol=1e-3)


def test_sliders_move_by_keyboard_and_numbers_follow(visit, report):
    model, _ = explored.fitted("several members")
    page = visit(report("several members"))
    start = page.evaluate("condensity.inputs()")
    spread = np.ptp(explored.X, axis=0)  # medians, to a few digits
    assert (np.abs(start - np.median(explored.X, axis=0)) < 0.005 * spread).all()
    assert all(len(f"{value:.10g}") < 8 for value in start)
    check_numbers(page, model)
    slider = page.get_by_role("slider", name="x3")
    for key in ["ArrowRight"] * 3 + ["PageUp", "ArrowLeft"]:
        slider.press(key)
        settle(page)
    assert page.evaluate("condensity.inputs()")[2] == pytest.approx(start[2] + 12, abs=1)
    check_numbers(page, model)
    slider.press("End")
    settle(page)
    assert page.evaluate("condensity.inputs()")[2] == explored.X[:, 2].max()
    check_numbers(page, model)


def test_numbers_that_are_none_are_refused_in_words(visit, report):
    page = visit(report("several members"))
    field, note = page.get_by_role("textbox", name="x1"), page.locator("#input-0-note")
    before = page.evaluate("condensity.inputs()")
    for wrong, words in [("abc", "“abc” is not a number"), ("1,5", "Write 1.5"), ("", "Write a")]:
        field.fill(wrong)
        assert words in note.inner_text()
        assert field.get_attribute("aria-invalid") == "true"
    assert page.evaluate("condensity.inputs()") == before
    field.fill("0.25")
    assert page.evaluate("condensity.inputs()")[0] == 0.25
    assert note.text_content() == ""
    field.fill("99")
    assert "Beyond the training data" in note.inner_text()
    page.get_by_label("Lower end").fill("2")
    page.get_by_label("Upper end").fill("1")
    assert "write the smaller number first" in page.locator("#between-note").inner_text()


def test_probabilities_cursor_and_cumulative(visit, report):
    model, _ = explored.fitted("two bounds")
    page = visit(report("two bounds"))
    dist = model.predict_dist([page.evaluate("condensity.inputs()")])
    page.get_by_label("Lower end").fill("2.5")
    page.get_by_label("Upper end").fill("4")
    settle(page)
    answer = float(page.locator("#between-answer").inner_text())
    assert answer == pytest.approx(dist.prob(2.5, 4)[0], abs=6e-4)
    page.focus("#curve")
    first = page.locator("#readout").inner_text()
    page.keyboard.press("ArrowRight")
    at, density, up_to = (
        float(word.strip(":,"))
        for word in page.locator("#readout").inner_text().split()
        if word.strip(":,").replace(".", "").isdigit()
    )
    assert page.locator("#readout").inner_text() != first
    assert density == pytest.approx(dist.pdf([at])[0], rel=5e-3)
    assert up_to == pytest.approx(dist.cdf([at])[0], abs=2e-3)
    page.get_by_role("button", name="Cumulative").click()
    settle(page)
    assert "probability up to y" in page.locator("#curve").text_content()


def test_two_points_are_pinned_and_gone_back_to(visit, report):
    page = visit(report("two outputs"))
    start = page.evaluate("condensity.inputs()")
    page.get_by_role("button", name="Pin A").click()
    page.evaluate("(x) => condensity.set(x)", explored.X[5].tolist())
    settle(page)
    page.get_by_role("button", name="Pin B").click()
    settle(page)
    heads = page.locator("#readings-head").inner_text().split()
    assert heads == ["Now", "A", "B"]
    assert page.locator("#curve .curve").count() == 3
    assert page.locator("#pair-plot .contour").count() == 3
    page.get_by_role("button", name="Set the inputs to those of A").click()
    settle(page)
    assert page.evaluate("condensity.inputs()") == start
    page.locator("#output").select_option(label="\u2068y2\u2069")
    settle(page)
    mean = explored.fitted("two outputs")[0].predict([start])[0, 1]
    np.testing.assert_allclose(shown_number(page, "Mean"), [mean], rtol=2e-3, atol=1e-3)


PLACES = """() => [...document.querySelectorAll("#summary-plot .sample")]
  .map((dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))])"""


def test_samples_are_taken_over_from_the_summary_plot(visit, report):
    page = visit(report("several locations"))
    page.focus("#summary-plot")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.evaluate("condensity.inputs()") in explored.X.tolist()
    before, places = page.evaluate("condensity.inputs()"), page.evaluate(PLACES)
    assert len(places) > 80
    x, y = max(places)
    box = page.locator("#summary-plot").bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)
    settle(page)
    after = page.evaluate("condensity.inputs()")
    assert after != before
    assert after in explored.X.tolist()
    # The current point now stands where the sample does.
    here = page.locator("#summary-plot .here").get_attribute("cx")
    assert float(here) == pytest.approx(x, abs=1e-6)


def test_a_sample_that_is_taken_over_is_told(visit, report):
    page = visit(report("several locations"))
    said = page.locator("#summary-status")
    assert said.get_attribute("role") == "status"
    assert said.text_content() == ""
    page.focus("#summary-plot")
    page.keyboard.press("ArrowRight")
    settle(page)
    first = said.text_content()
    row = explored.X.tolist().index(page.evaluate("condensity.inputs()"))
    z = explored.fitted("several locations")[0].transform(explored.X)[:, 0]
    assert f"sample {np.sum(z <= z[row])} of 100 from the left: z₁ " in first
    y = explored.fitted("several locations")[1][row]
    assert float(re.search(r"y ([−0-9.]+),", first)[1].replace("−", "-")) == pytest.approx(y, 1e-2)
    page.keyboard.press("ArrowRight")
    assert said.text_content() != first


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    frame, y = pd.DataFrame(explored.X, columns=HOSTILE), explored.BOTH
    return write_report(
        explored.LSCE(2, **explored.ONE).fit(frame, y),
        tmp_path_factory.mktemp("hostile") / "report.html",
        X=frame,
        y=pd.DataFrame(y, columns=HOSTILE[:2]),
        title=HOSTILE[0] + HOSTILE[3],
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_names_are_text(width, hostile, visit):
    page = visit(hostile, width=width)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, main svg svg").count() == 0
    shown = page.locator("#input-list bdi").all_text_contents()
    assert sorted(shown) == sorted(HOSTILE)
    assert page.title() == page.locator("#title").text_content() == HOSTILE[0] + HOSTILE[3]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_policy_lets_nothing_else_run(hostile, visit, tab):
    page = visit(hostile)
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(script);
          document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.hacked = 2'>");
        }"""
    )
    page.wait_for_timeout(50)
    assert page.evaluate("window.hacked") is None
    blocked = [words for words in tab.heard if "Content Security Policy" in words]
    assert len(blocked) >= 2
    del tab.heard[1:]


def test_of_many_inputs_the_most_influential_come_first(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50))
    y = 2 * X[:, 37] + 0.3 * rng.normal(size=60)
    model = explored.LSCE(1, **(explored.ONE | {"location": "linear"}))
    page = visit(write_report(model.fit(X, y), tmp_path / "many.html", X=X, y=y))
    visible = page.locator("#input-list > li:visible")
    assert visible.count() == 12
    assert visible.first.inner_text().strip() == "x38"
    page.get_by_label("Find an input").fill("X49")
    assert visible.count() == 1
    page.get_by_label("Find an input").fill("no such")
    assert page.get_by_text("No input has this in its name.").is_visible()
    page.get_by_label("Find an input").fill("")
    page.get_by_role("button", name="Show all 50 inputs").click()
    assert visible.count() == 50


OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")]
    .map((t) => [t.textContent, t.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
    .filter(([, q]) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)
    .map(([b]) => [a, b]));
})"""
UNDRAWN = """() => [...document.querySelectorAll(".chart")]
  .filter((chart) => !chart.closest("[hidden]"))
  .filter((chart) => chart.clientHeight < 150 || !chart.querySelector("svg text, svg path"))
  .map((chart) => chart.id)"""
NAMELESS = """() => [...document.querySelectorAll("input, select, button, [tabindex='0']")]
  .filter((node) => !node.closest("[hidden]") && !node.labels?.length && !node.textContent.trim()
    && !node.ariaLabel && !node.getAttribute("aria-labelledby")).map((node) => node.outerHTML)"""


@pytest.fixture(scope="module")
def all_sorts(tmp_path_factory):
    """A page with numbers large and small, switches, and lists of short and of long names."""
    rng = np.random.default_rng(0)
    kinds, regions = np.eye(3)[rng.choice(3, 60)], np.eye(2)[rng.choice(2, 60)]
    numbers = rng.normal(size=(60, 2)) * [1, 3e4] + [0, 123456.789]
    X = np.column_stack([numbers, rng.random(60) < 0.5, kinds, regions])
    y = 1e6 + 0.1 * rng.normal(size=60)
    common = "a name with a long beginning in common with all others, then "
    categories = {
        "kind": {"a": 3, "b": 4, "c": 5},
        "office": {f"{common}north": 6, f"{common}south": 7},
    }
    path = tmp_path_factory.mktemp("all_sorts") / "r.html"
    data = {"X": X, "y": y, "X_test": X[:30], "y_test": y[:30]}
    return write_report(explored.quick(X, y), path, **data, categories=categories)


@pytest.mark.parametrize("kind", ["several members", "two outputs, bounds", "all sorts"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_every_screen(kind, width, visit, report, all_sorts):
    page = visit(all_sorts if kind == "all sorts" else report(kind), width=width)
    page.locator("#pin-A").click()
    page.focus("#summary-plot")
    page.keyboard.press("ArrowRight")
    settle(page)
    if kind == "all sorts":
        assert page.get_by_role("combobox", name="office").is_visible()
        assert page.get_by_role("switch").bounding_box()["height"] >= (24 if width == 390 else 20)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(UNDRAWN) == []
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(NAMELESS) == []


PAPER = "getComputedStyle(document.body).backgroundColor"


def test_the_theme_is_the_systems_until_the_button_is_used(visit, report):
    page = visit(report("two outputs"))
    light, light_picture = page.evaluate(PAPER), page.screenshot()
    page.emulate_media(color_scheme="dark")
    dark, dark_picture = page.evaluate(PAPER), page.screenshot()
    assert light != dark
    assert light_picture != dark_picture
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(PAPER) == light
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(PAPER) == dark


def test_nothing_moves_for_those_who_asked_for_it(visit, report):
    page = visit(report("two outputs"))
    moving = "getComputedStyle(document.querySelector('button')).transitionDuration"
    assert page.evaluate(moving) == "0s"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(moving) != "0s"
    page.emulate_media(reduced_motion="reduce")


def test_categories_are_chosen_and_flags_switched(visit, tmp_path):
    model, X, y = explored.with_categories()
    path = write_report(model, tmp_path / "r.html", X=X, y=y, categories=explored.CATEGORIES)
    page = visit(path)
    assert "3 inputs to 1 output" in page.locator("#subtitle").inner_text()
    assert page.get_by_role("slider").count() == 1
    kind, flag = page.get_by_role("combobox", name="kind"), page.get_by_role("switch", name="x2")
    a, b, c = (round(100 * share) for share in X[:, 2:].mean(axis=0))
    names = [f"{name} · {share} %" for name, share in zip("abc", (a, b, c), strict=True)]
    texts = [
        re.sub("[\u2068\u2069]", "", text) for text in kind.locator("option").all_inner_texts()
    ]
    assert texts == [*names, "none of these"]
    assert kind.input_value() == "1"
    check_numbers(page, model)
    page.get_by_role("button", name="Pin A").click()
    kind.select_option("0")
    flag.press("Space")
    settle(page)
    assert page.evaluate("condensity.inputs()")[1:] == [1, 1, 0, 0]
    assert flag.is_checked()
    check_numbers(page, model)
    differ = page.locator("#readings-body .input-row").all_inner_texts()
    assert sorted(row.split() for row in differ) == [["kind", "a", "b"], ["x2", "1", "0"]]
    kind.select_option("3")
    settle(page)
    assert page.evaluate("condensity.inputs()")[1:] == [1, 0, 0, 0]
    page.get_by_role("button", name="Typical").click()
    settle(page)
    assert kind.input_value() == "1"
    assert not flag.is_checked()
    page.locator("#loadings-choice").select_option(label="Influence")
    assert page.locator("#loadings-list li").count() == 3
