"""Tables and pages say what the records say, and nothing that records contain is run."""

import re

import numpy as np
import pytest
from scipy.stats import t as student

from condensity.experiments import figures
from condensity.experiments import published_results as paper
from condensity.experiments import result_tables as tables
from condensity.experiments.formatted_tables import FormattedTable, TableEntry
from condensity.experiments.methods import OURS
from condensity.experiments.records import Cell, Record
from condensity.experiments.results_page import render_results_page
from condensity.experiments.run_statistics import best_columns, mean_text
from condensity.experiments.runner import VERSIONS


def benchmark_records(losses, table="Servo"):
    """Records of one table from {(method, density): losses by seed}."""
    found = []
    for seed in range(10):
        results = {}
        for (method, density), values in losses.items():
            results.setdefault(method, {})[density] = {
                "Error_CDE": values[seed],
                "dz": seed % 3 + 1,
            }
        found += [
            Record(Cell("benchmark", table, method, 50, seed), own, 1.5)
            for method, own in results.items()
        ]
    return found


def paired_t_test(a, b):
    """Two-sided p-value, from the definition."""
    d = np.asarray(a) - np.asarray(b)
    statistic = d.mean() / (d.std(ddof=1) / np.sqrt(len(d)))
    return 2 * student(len(d) - 1).sf(abs(statistic))


def test_bold_are_the_best_and_what_a_paired_t_test_does_not_tell_from_it():
    rng = np.random.default_rng(0)
    split = rng.normal(size=10)  # what all methods share: only a paired test sees through it
    best = split - 3.0 + 0.01 * rng.normal(size=10)
    close, far = best + 0.02 + 0.05 * rng.normal(size=10), best + 0.1 + 0.05 * rng.normal(size=10)
    assert paired_t_test(close, best) > 0.05 > paired_t_test(far, best)
    records = benchmark_records(
        {("LSCE", "own"): close, ("LSMI", "LSCDE"): far, (OURS, "own"): best}
    )
    sheet = tables.benchmark_table(records)
    entries = dict(zip(sheet.columns[1:], dict(sheet.rows)["Servo"], strict=True))
    assert [name for name, entry in entries.items() if entry.bold] == [OURS, "LSCE as published"]
    error = close.std(ddof=1) / 10**0.5
    assert entries["LSCE as published"].text == f"{close.mean():.2f} ({error:.2f})"
    # The paper's LSCE/LSCDE has no second step.
    assert entries["LSCE as published"].below == "-2.92 (0.18)"
    assert entries["LSCE, then LSCDE"].below == ""
    assert entries["None/LSCDE"].text == ""
    assert entries["None/LSCDE"].below == "-2.62 (0.09)"


def test_what_differs_from_the_paper_by_more_than_two_standard_errors_is_said():
    spread = np.linspace(-0.3, 0.3, 10)
    error = spread.std(ddof=1) / 10**0.5
    near, far = -2.92 + 1.9 * np.hypot(error, 0.18), -2.69 - 2.1 * np.hypot(error, 0.18)
    records = benchmark_records(
        {("LSCE", "own"): near + spread, ("LSMI", "LSCDE"): far + spread, (OURS, "own"): spread}
    )
    (note,) = tables.benchmark_table(records).notes
    assert note.startswith("Servo, LSMI/LSCDE: ")
    assert "2.1 standard errors below the paper's -2.69 (0.18)" in note


def test_equal_columns_are_equally_good_and_missing_ones_are_not():
    same = dict(enumerate([1.0, 2.0, 3.0]))
    assert best_columns([same, dict(same), {}, {0: 5.0}]) == [True, True, False, False]
    higher = {seed: value + 1 for seed, value in same.items()}
    assert best_columns([higher, same]) == [False, True]
    assert best_columns([{}, {}]) == [False, False]
    # Nine runs each, but not the same ones: only what was run on the same splits is compared.
    first, last = ({s: float(s) for s in range(10) if s != gone} for gone in (9, 0))
    assert best_columns([first, last]) == [True, False]


def test_fewer_runs_than_others_are_said_and_a_difference_without_spread_too():
    records = benchmark_records({("LSCE", "own"): np.zeros(10), ("LSMI", "LSCDE"): np.zeros(10)})
    sheet = tables.benchmark_table(
        [r for r in records if (r.cell.method, r.cell.seed) != ("LSMI", 4)]
    )
    entries = dict(zip(sheet.columns[1:], dict(sheet.rows)["Servo"], strict=True))
    assert entries["LSMI/LSCDE"].text == "0.000 (0.000), 9 runs"
    assert entries["LSCE as published"].text == "0.000 (0.000)"
    always = [
        Record(Cell("benchmark", "Yacht", "LSCE", 80, seed), {"own": {"Error_CDE": -1.0, "dz": 2}})
        for seed in range(3)
    ]
    (note,) = tables.dimensions_table(always).notes  # the paper has 1.00 (0.00)
    assert note == "Yacht, LSCE as published: 2.00 (0.00), above the paper's 1.0 (0.0)."


def test_nothing_wins_where_losses_tell_how_narrow_kernels_may_be():
    losses = {("LSCE", "own"): np.linspace(-1, 0, 10), (OURS, "own"): np.linspace(-3, -2, 10)}
    for table, bold in (("Servo", True), ("Red Wine", False)):
        sheet = tables.benchmark_table(benchmark_records(losses, table))
        assert any(entry.bold for entry in dict(sheet.rows)[table]) is bold


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (-974.3, 62.9, "-974 (63)"),
        (-71.34, 0.42, "-71.34 (0.42)"),
        (-71.34, 0.04, "-71.340 (0.040)"),
        (0.0123, 0.00001, "0.012 (0.000)"),
        (-5.0, 0.0, "-5.00 (0.00)"),
        (-5.0, np.nan, "-5.00"),
        (-350197.0, 18439.0, "-3.50 (0.18) ·10⁵"),
        (-4.689e18, 1.605e18, "-4.7 (1.6) ·10¹⁸"),
        (1.234e7, np.nan, "1.23 ·10⁷"),
    ],
)
def test_figures_have_two_digits_of_their_error(mean, error, text):
    assert mean_text(mean, error) == text


def test_what_a_method_got_through_is_not_the_mean_of_all():
    ten = {seed: float(seed) for seed in range(10)}
    easy = {seed: ten[seed] + 0.01 for seed in range(5)}  # fewer runs, the easy ones
    assert best_columns([easy, ten]) == [False, True]
    broken = dict(ten) | {3: float("nan")}
    assert best_columns([broken, ten]) == [False, True]


def test_dimensions_stand_beside_the_paper_s():
    records = benchmark_records({("LSCE", "LSCDE"): np.zeros(10), ("LSCE", "own"): np.zeros(10)})
    sheet = tables.dimensions_table(records)
    entries = dict(zip(sheet.columns[1:], dict(sheet.rows)["Servo"], strict=True))
    dz = np.arange(10) % 3 + 1
    for name, below in (("LSCE as published", "1.90 (0.35)"), ("LSCE, then LSCDE", "")):
        assert entries[name].text == f"{dz.mean():.2f} ({dz.std(ddof=1) / 10**0.5:.2f})"
        assert entries[name].below == below
    assert [label for label, _ in sheet.rows] == list(paper.ERRORS)


def test_rows_of_the_worlds_stand_beside_the_paper_s_where_it_has_them():
    losses = np.linspace(-12.0, -8.0, 10)
    records = [
        Record(
            Cell("worlds", problem, method, n, seed),
            {density: {"Error_CDE": shift + losses[seed], "dz": seed % 3 + 1}},
        )
        for problem, n in (("Simulated brush", 250), ("2 Joints, whole episodes", 100))
        for method, density, shift in (("None", "LSCDE", 1.0), (OURS, "own", 0.0))
        for seed in range(10)
    ]
    errors, directions, variants = tables.world_tables(records)
    rows = {
        name: dict(zip(sheet.columns[1:], row, strict=True))
        for sheet in (errors, variants)
        for name, row in sheet.rows
    }
    assert list(rows) == [
        "2 Joints, n = 100",
        "4 Joints, n = 200",
        "9 Joints, n = 500",
        *(f"Simulated brush, n = {n}" for n in (200, 250, 300)),
        "2 Joints, whole episodes, n = 100",
    ]
    error = losses.std(ddof=1) / 10**0.5
    whole, brush = "2 Joints, whole episodes, n = 100", "Simulated brush, n = 250"
    for row, best in ((whole, True), (brush, False)):
        ours, none = (rows[row][m] for m in (OURS, "None/LSCDE"))
        assert (ours.text, ours.bold) == (f"-10.00 ({error:.2f})", best)  # losses of y in {0, 1}
        assert (none.text, none.bold) == (f"-9.00 ({error:.2f})", False)
    assert rows[brush]["LSCE as published"].below == "-168.3 (17.0)"
    assert list(rows[whole]) == [OURS, "None/LSCDE"]  # what was run, where the paper has nothing
    for sheet, row in ((variants, whole), (errors, brush)):
        note = f"{row}: LSCE() minus None/LSCDE -1.00 (0.00), lower on 10 of 10 splits."
        assert sheet.notes == [note]
    assert rows["9 Joints, n = 500"]["LSMI/LSCDE"].below == "-974 (63)"
    entries = dict(directions.rows)
    assert whole not in entries
    row = dict(zip(directions.columns[1:], entries[brush], strict=True))
    assert (row[OURS].text, row["LSCE as published"].below) == ("1.90 (0.28)", "4.20 (0.55)")


def artificial_records():
    return [
        Record(
            Cell("artificial", problem, method, n, seed),
            {
                density: {"Error_CDE": -1 / n + 0.001 * seed, "Error_DR": 1 / n, "dz": 1}
                for density in (["own"] if method == OURS else ["LSCDE", "ε-KDE"])
            }
            | ({"y": [0.0, 1.0, 2.0]} if seed == 0 else {}),
        )
        for problem in ("toy (a)", "toy (b)")
        for n in (50, 100)
        for method in ("None", "LSMI", "LSCE", "True", OURS)
        for seed in range(3)
    ]


def test_the_errors_of_artificial_problems_are_listed_by_size():
    directions, densities = tables.artificial_tables(artificial_records())
    assert [label for label, _ in densities.rows] == [
        f"toy ({p}), n = {n}" for p in "ab" for n in (50, 100)
    ]
    entries = dict(zip(densities.columns[1:], densities.rows[1][1], strict=True))
    values = -0.01 + 0.001 * np.arange(3)
    assert entries["LSMI/ε-KDE"].text == f"{values.mean():.3f} ({0.001 / 3**0.5:.3f})"
    assert "0.020" in directions.rows[0][1][0].text


def test_subspaces_are_compared_run_by_run_and_the_truth_does_not_compete():
    rng = np.random.default_rng(0)
    hard = rng.uniform(0, 1, 8)  # what makes a run hard makes it hard for all
    worse = {"True": -1.0, OURS: 0.0, "LSMI": 0.03, "LSCE": 0.05}
    records = [
        Record(
            Cell("artificial", "toy (b)", method, 50, seed),
            {
                "own" if method == OURS else "LSCDE": {
                    "Error_DR": hard[seed] + more + 0.001 * rng.uniform(-1, 1),
                    "Error_CDE": hard[seed] + more + 0.001 * rng.uniform(-1, 1),
                }
            },
        )
        for method, more in worse.items()
        for seed in range(8)
    ]
    directions, densities = tables.artificial_tables(records[:-1])  # the last has not been run
    entries = dict(zip(directions.columns[1:], directions.rows[0][1], strict=True))
    for name, more in (("LSCE() minus LSMI", -0.03), ("LSCE as published minus LSMI", 0.02)):
        mean, error = map(float, entries[name].text.rstrip(")").split("("))
        assert mean == pytest.approx(more, abs=0.0015)
        assert error <= 0.001  # that of means is 0.1
    assert [name for name, entry in entries.items() if entry.bold] == [OURS]
    assert "True" not in entries
    entries = dict(zip(densities.columns[1:], densities.rows[0][1], strict=True))
    assert [name for name, entry in entries.items() if entry.bold] == [OURS]


def test_the_figure_shows_means_and_standard_errors():
    figure = figures.artificial_figure(artificial_records())
    left, middle, right = figure.axes[:3]
    assert len(right.containers) == 9
    assert len(left.containers) == 3  # LSMI, LSCE, LSCE(): one line for each subspace
    n, mean = right.containers[0].lines[0].get_data()
    np.testing.assert_allclose(n, [50, 100])
    np.testing.assert_allclose(mean, [-0.02 + 0.001, -0.01 + 0.001])
    assert sum(patch.get_height() for patch in middle.patches) == 3


def test_the_default_comes_first_and_keeps_its_figures():
    records = benchmark_records({(OURS, "own"): np.full(10, -2.0), ("LSCE", "own"): np.zeros(10)})
    for sheet in (tables.benchmark_table(records), tables.dimensions_table(records)):
        assert sheet.columns[1:3] == [OURS, "LSCE as published"]
        ours, published = dict(sheet.rows)["Servo"][:2]
        assert ours.below == ""
        assert published.below in ("-2.92 (0.18)", "1.90 (0.35)")
        assert ours.text.startswith(f"{ours.mean:.2f}")
    assert tables.artificial_tables(artificial_records())[1].columns[1] == OURS


def test_a_chart_has_a_panel_for_each_row_and_shows_its_means():
    entries = [TableEntry("a", mean=-1.0, error=0.1), TableEntry(""), TableEntry("c", mean=3.0)]
    wide = [TableEntry("a", mean=-100.0, error=0.1), TableEntry(""), TableEntry("c", mean=1.0)]
    rows = [("first", entries), ("second", wide)]
    figure = figures.table_chart(FormattedTable("s", "T", "C", ["", OURS, "b", "c"], rows))
    first, second = figure.axes
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["first", "second"]
    points = [bar.lines[0].get_xydata()[0].tolist() for bar in first.containers]
    assert points == [[-1.0, 0], [3.0, 2]]  # no point for what was not run
    (segment,) = first.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(segment[:, 0], [-1.2, -0.8])
    assert [label.get_text() for label in first.get_yticklabels()] == [OURS, "b", "c"]
    assert [ax.get_xscale() for ax in (first, second)] == ["linear", "symlog"]


def test_long_lists_are_folded_and_charts_stand_below_their_tables():
    rows = [("r", [TableEntry("1")])]
    for n, folded in ((3, False), (4, True)):
        notes = [f"note {i}" for i in range(n)]
        shown = FormattedTable("s", "T", "C", ["", "a"], rows, notes).html("<svg>drawn</svg>")
        assert ("<details>" in shown) is folded
        assert shown.index("</table>") < shown.index("<svg>drawn") < shown.index("note 0")


def test_records_of_another_version_are_said():
    cell = Cell("benchmark", "Servo", OURS, 50, 0)
    for made_by, said in ((VERSIONS, False), ("condensity 0.0.1", True)):
        record = Record(cell, {"own": {"Error_CDE": -4.0}}, made_by=made_by)
        page = render_results_page([], {}, [record], quick=False, command="c")
        assert ("1 of the 1 records of LSCE() were made by another version" in page) is said


HOSTILE = "<script>alert(1)</script> & | \\ $x_1$ 100 %"


def test_hostile_text_is_shown_and_never_run():
    sheet = FormattedTable(
        "s", HOSTILE, HOSTILE, ["", HOSTILE], [(HOSTILE, [TableEntry(HOSTILE, True, HOSTILE)])]
    )
    shown = render_results_page(
        [sheet],
        {},
        [Record(Cell("s", HOSTILE, "m", 1, 0), error=HOSTILE)],
        quick=True,
        command=HOSTILE,
    )
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 9
    markdown = sheet.markdown()
    (row,) = [line for line in markdown.splitlines() if line.startswith("| &lt;")]
    assert row.replace("\\|", "").count("|") == 3  # two places, whatever stands in them
    assert "<script" not in markdown
    latex = sheet.latex()
    assert r"\textbackslash{} \$x\_1\$ 100 \%" in latex
    assert not re.search(r"(?<!\\)[%$#]", latex.replace(r"$-$", ""))


def test_powers_of_ten_are_raised_in_latex():
    sheet = FormattedTable("s", "T", "C", ["", "a"], [("r", [TableEntry("-4.7 (1.6) ·10¹⁸")])])
    assert r"-4.7 (1.6) $\cdot$10\textsuperscript{1}\textsuperscript{8}" in sheet.latex()


@pytest.mark.parametrize("kind", ["markdown", "html", "latex"])
def test_every_form_has_all_entries(kind):
    rows = [
        (f"row {i}", [TableEntry(f"{i}{j}", i == j, f"below {i}{j}") for j in range(3)])
        for i in range(2)
    ]
    text = getattr(
        FormattedTable("s", "Title", "Caption.", ["", "a", "b", "c"], rows, ["a note"]), kind
    )()
    for i in range(2):
        assert all(f"{i}{j}" in text and f"below {i}{j}" in text for j in range(3))
    bold = {"markdown": r"\*\*(\d\d)\*\*", "html": r"<b>(\d\d)</b>", "latex": r"\\textbf{(\d\d)}"}
    assert re.findall(bold[kind], text) == ["00", "11"]
    assert "Caption." in text
    assert "a note" in text
