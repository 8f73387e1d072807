"""What the reader sets: lists, switches, sliders and fields, and the numbers they show."""

import re

import numpy as np
import pytest

import explored
from condensity.explorer import write_report
from explored import settle

PREFIX = "Department of Agriculture, Food and Rural Affairs, office "
HOSTILE = [
    "</option><script>window.hacked=1</script>",
    "__proto__",
    "\u202eשלום\u2067 \u2066abc",
    "",
]
NO_EFFECT = "Constant in the training data: it has no effect."


@pytest.fixture
def opened(visit, tmp_path):
    """The page of a quick model of the columns given."""

    def opened(*columns, y=None, data=True, **options):
        X = np.column_stack(columns)
        y = explored.FORK[: len(X)] if y is None else y
        options |= {"X": X, "y": y} if data else {}
        return visit(write_report(explored.quick(X, y), tmp_path / "r.html", **options))

    return opened


def chosen_of(rng, shares):
    return np.eye(len(shares))[rng.choice(len(shares), 100, p=shares)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def inputs(page):
    settle(page)
    return page.evaluate("condensity.inputs()")


def test_long_names_of_categories_are_told_apart(opened, rng):
    labels = [PREFIX + "north", PREFIX + "south", "x" * 300]
    kind = dict(zip(labels, (1, 2, 3), strict=True))
    page = opened(rng.normal(size=100), chosen_of(rng, [0.5, 0.3, 0.2]), categories={"kind": kind})
    select, note = page.get_by_role("combobox", name="kind"), page.locator("#input-1-note")
    north, south, long, _ = select.locator("option").all_inner_texts()
    assert north.startswith(f"\u2068{labels[0]}\u2069 · ")
    assert south.startswith(f"\u2068{labels[1]}\u2069 · ")
    assert long.startswith("\u2068" + "x" * 199 + "…\u2069 · ")
    assert all(text.endswith(" %") for text in (north, south, long))
    titles = [option.get_attribute("title") for option in select.locator("option").all()]
    assert [title.split(" · ")[0] for title in titles] == [*labels, "none of these"]
    for place, text in enumerate((north, south)):
        select.select_option(str(place))
        settle(page)
        assert select.get_attribute("title") == titles[place]
        assert note.inner_text() == text  # the closed list cannot show all of it
    select.select_option("3")
    settle(page)
    assert note.text_content() == ""


def test_hostile_names_of_categories_stay_in_their_options(opened, rng):
    kind = dict(zip(HOSTILE, (1, 2, 3, 4), strict=True))
    column = chosen_of(rng, [0.4, 0.3, 0.2, 0.1])
    page = opened(rng.normal(size=100), column, categories={HOSTILE[2]: kind})
    options = page.locator("#input-1 option")
    names = [text.split(" · ")[0] for text in options.all_inner_texts()]
    assert names[:2] == [f"\u2068{name}\u2069" for name in HOSTILE[:2]]
    assert names[2:] == ["\u2068שלום abc\u2069", "\u2068(no name)\u2069", "none of these"]
    assert page.evaluate("window.hacked") is None
    for place in range(4):
        page.locator("#input-1").select_option(str(place))
        assert inputs(page)[1:] == np.eye(4)[place].tolist()


def test_names_in_other_lists_keep_to_themselves(opened, rng):
    names = ["\u202eab", PREFIX + "north", PREFIX + "south"]
    page = opened(rng.normal(size=(100, 3)), feature_names=names)
    texts = page.locator("#summary-across option").all_inner_texts()
    assert texts == [f"\u2068{name.strip(chr(0x202E))}\u2069" for name in names]


def test_categories_that_never_occur_are_said_to(opened, rng):
    column = np.column_stack([chosen_of(rng, [0.999, 0.001]), np.zeros(100)])
    column[0] = [0, 1, 0]
    with pytest.warns(UserWarning, match="does not vary in column 3"):
        page = opened(rng.normal(size=100), column, categories={"kind": {"a": 1, "b": 2, "c": 3}})
    texts = page.locator("#input-1 option").all_inner_texts()
    assert [text.split(" · ")[-1] for text in texts[:3]] == [
        "99 %",
        "1 %",
        "not in the training data",
    ]
    assert page.locator("#input-1").is_enabled()


def test_one_category_alone_has_no_effect(opened, rng):
    column = np.column_stack([np.ones(100), np.zeros(100)])
    with pytest.warns(UserWarning, match="does not vary in columns? 1"):
        page = opened(rng.normal(size=100), column, categories={"kind": {"a": 1, "b": 2}})
    assert page.locator("#input-1").is_disabled()
    assert page.locator("#input-1-note").inner_text() == NO_EFFECT
    assert page.locator("#input-1 option").first.inner_text() == "\u2068a\u2069 · 100 %"


def test_a_switch_opens_at_0_or_1_and_says_where_it_is_neither(opened, rng):
    page = opened(rng.normal(size=100), np.arange(100) % 2)
    assert inputs(page)[1] in (0, 1)
    switch, value = page.get_by_role("switch", name="x2"), page.locator("#input-1-value")
    page.evaluate("condensity.set([0, 0.25])")
    settle(page)
    assert value.inner_text() == "0.25, neither 0 nor 1"
    assert not switch.evaluate("(box) => box.indeterminate")  # which no switch may be
    switch.press("Space")
    assert inputs(page)[1] == 1
    assert value.inner_text() == "1"
    page.locator("#loadings-choice").select_option(label="Influence")
    assert "a switch goes from 0 to 1" in page.locator("#loadings-note").inner_text()


def test_without_samples_nothing_is_made_up(opened, rng):
    page = opened(rng.normal(size=100), rng.random(100) < 0.7, data=False)
    assert page.get_by_role("switch", name="x2").is_checked()
    assert page.locator(".spread").count() == 0
    field, note = page.get_by_role("textbox", name="x1"), page.locator("#input-0-note")
    field.fill("9")
    far = "More than three standard deviations from the mean of the training data."
    assert note.inner_text() == far
    page.locator("#loadings-choice").select_option(label="Influence")
    assert "1.28 standard deviations below" in page.locator("#loadings-note").inner_text()
    assert page.locator("#summary-plot").get_attribute("role") == "img"
    page.get_by_role("button", name="Pin A").click()
    field.fill("0.5")
    settle(page)
    assert page.locator("#readings-body .input-row").inner_text().split() == ["x1", "0.5", "9"]


def test_fields_show_the_numbers_that_are_used(opened, rng):
    page = opened(1000123456 + np.arange(100), 123456 + rng.normal(size=100))
    for value, text in [
        ([1000123456, 123456.789], ["1000123456", "123456.789"]),
        ([-1000123457, 0.000012345], ["-1000123457", "0.000012345"]),
        ([1e14, 0.1 + 0.2], ["100000000000000", "0.3"]),
        ([2.5e15, -1e-9], ["2.5e15", "-1e-9"]),
    ]:
        page.evaluate("(x) => condensity.set(x)", value)
        settle(page)
        fields = [page.get_by_role("textbox", name=name) for name in ("x1", "x2")]
        assert [field.input_value() for field in fields] == text
    fields[1].fill("123455.25")
    fields[0].fill("1000123457")
    page.get_by_role("button", name="Pin A").click()
    fields[0].fill("1000123458")
    settle(page)
    differ = page.locator("#readings-body .input-row").inner_text().replace("\u202f", " ")
    assert " ".join(differ.split()) == "x1 1 000 123 458 1 000 123 457"


def test_outputs_far_from_zero_can_be_told_apart(opened, rng):
    y = 1e6 + 0.1 * rng.normal(size=100)
    page = opened(rng.normal(size=100), y=y)
    line = page.evaluate("""() => { const line = condensity.at(condensity.inputs()).marginal(0);
      return [line.mean(), line.quantile(0.05), line.quantile(0.95), ...line.hdr(0.9)[0]]; }""")
    rows = page.locator("#readings-body td").all_inner_texts()
    shown = [rows[0], *rows[3].split(", "), *rows[4].split("\n")[0].split(" to ")]
    np.testing.assert_allclose(
        [float(text.replace("\u202f", "")) for text in shown], line, atol=1e-3
    )
    assert len(set(shown)) == 5 or shown[1:3] == shown[3:]
    for axis in ("#curve .tick.middle", "#summary-plot .tick.end"):
        ticks = page.locator(axis).all_text_contents()
        assert len(set(ticks)) == len(ticks) >= 2
        assert np.ptp([float(text.replace("\u202f", "")) for text in ticks]) > 0.1
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    assert page.locator("#curve .tick.middle").count() >= 2
    left = "(nodes) => Math.min(...nodes.map((node) => node.getBBox().x))"
    assert page.locator("#summary-plot .tick.end").evaluate_all(left) >= 0
    page.focus("#curve")
    first = page.locator("#readout").inner_text()
    page.keyboard.press("ArrowRight")
    moved = page.locator("#readout").inner_text()
    assert first.split(":")[0] != moved.split(":")[0]


@pytest.mark.parametrize(("high", "step"), [(100, 1), (250_000, 2000)])
def test_sliders_of_whole_numbers_cross_their_range(high, step, opened, rng):
    column = np.round(np.linspace(0, high, 100))
    page = opened(column, rng.normal(size=100))
    slider = page.get_by_role("slider", name="x1")
    slider.press("Home")
    for count in (1, 2):
        slider.press("ArrowRight")
        assert inputs(page)[0] == count * step


def test_calibration_is_told_in_words_too(visit, report):
    page = visit(report("several members"))
    words = page.locator("#calibration-note").inner_text()
    model, y = explored.fitted("several members")
    dist = model.predict_dist(explored.X[:40])
    pit = np.array([dist[i].cdf(y[i])[0] for i in range(40)])
    level = dist.hpd_level(y[:40])
    levels = [0.5, 0.8, 0.9, 0.95]
    central = ", ".join(f"{np.mean(np.abs(2 * pit - 1) <= q) * 100:.0f}" for q in levels)
    highest = ", ".join(f"{np.mean(level <= q) * 100:.0f}" for q in levels)
    assert f"central intervals of 50, 80, 90, 95 % hold {central} %" in words
    assert f"highest-density regions {highest} %" in words
    for plot in ("#pit-plot", "#coverage-plot"):
        assert page.locator(plot).get_attribute("aria-describedby") == "calibration-note"


CONTRAST = """(field) => {
  const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
  const own = light(getComputedStyle(field).borderTopColor);
  const card = light(getComputedStyle(field.closest(".card")).backgroundColor);
  return Math.max(own, card) / Math.min(own, card);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_fields_stand_out_from_their_card(theme, visit, report):
    page = visit(report("two outputs"))
    page.emulate_media(color_scheme=theme)
    fields = ("#input-0", "#output", "#from")
    contrasts = [page.locator(field).evaluate(CONTRAST) for field in fields]
    page.emulate_media(color_scheme="light")
    assert min(contrasts) >= 3


def test_switches_are_seen_in_colours_of_the_readers_own(opened, rng):
    page = opened(rng.normal(size=100), np.arange(100) % 2)
    page.emulate_media(forced_colors="active")
    switch = page.locator("#input-1")
    off = switch.screenshot()
    switch.press("Space")
    settle(page)
    switch.blur()
    on = switch.screenshot()
    switch.evaluate("(box) => { box.style.visibility = 'hidden'; }")
    nothing = page.screenshot(clip=switch.bounding_box())
    page.emulate_media(forced_colors="none")
    assert len({off, on, nothing}) == 3


AXIS = "() => [...document.querySelectorAll('#curve text')].map((t) => t.firstChild.data)"


@pytest.mark.parametrize(
    ("unit", "numbers", "labels"),
    [
        (1e5, ["200\u202f000", "400\u202f000"], ["y", "density, in units of 10⁻⁶"]),
        (1e-5, ["2", "4"], ["y, in units of 10⁻⁵", "density"]),
        (1e10, ["2", "4"], ["y, in units of 10¹⁰", "density, in units of 10⁻¹¹"]),
        (1.0, ["2", "4"], ["y", "density"]),
    ],
)
def test_axes_group_digits_and_need_no_exponents(unit, numbers, labels, opened, rng):
    y = unit * (3 + 0.5 * rng.normal(size=100))
    page = opened(rng.normal(size=100), y=y)
    texts = page.evaluate(AXIS)
    assert set(numbers) <= set(texts)
    assert set(labels) <= set(texts)
    assert not [text for text in texts if re.search(r"\de|\d·", text)]
    if unit == 1e5:
        assert re.match(
            r"[23]\d\d\u202f\d\d\d", page.locator("#readings-body td").first.inner_text()
        )
        page.get_by_label("Lower end").fill("300\u202f000")
        page.get_by_label("Upper end").fill("350 000")
        settle(page)
        answer = float(page.locator("#between-answer").inner_text())
        exact = page.evaluate("condensity.at(condensity.inputs()).marginal(0).prob(300000, 350000)")
        assert answer == pytest.approx(exact, abs=6e-4)


def test_small_and_large_numbers_have_powers_of_ten(opened, rng):
    page = opened(rng.normal(size=100), y=1e-6 * rng.normal(size=100))
    spread = page.locator("#readings-body tr", has_text="Standard deviation").locator("td")
    assert re.fullmatch(r"\d\.\d+·10⁻[⁶⁷]", spread.first.inner_text())


def test_titles_name_the_output_and_influence_comes_first(opened, rng):
    page = opened(rng.normal(size=100), y=rng.normal(size=100), target_names="price")
    titles = [page.locator(f"#{name}-title").inner_text() for name in ("stage", "numbers")]
    assert titles == ["What price may be", "price in numbers"]
    assert page.locator("#loadings-title").inner_text() == "What counts for price"
    chosen = page.locator("#loadings-choice option:checked")
    assert chosen.inner_text() == "Influence"
