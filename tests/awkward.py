"""Four tables as people have them: identifiers, gaps, dates, currencies, a German Excel export.

``python tests/awkward.py FOLDER`` writes them with their full numbers of rows.
"""

import csv
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

DISTRICTS = np.array(["Altstadt", "Hafen", "Nord", "Süd"])
STREETS = ("Main Street", "Station Road", "Park Avenue", "High Street", "Mill Lane")


def houses(n=400, seed=0):
    """House sales: an identifier, an address, a date, prices such as €350,000, some gaps."""
    rng = np.random.default_rng(seed)
    area = rng.gamma(9, 14, n).round()
    rooms = np.clip((area / 30 + rng.normal(0, 0.8, n)).round(), 1, None)
    days = rng.integers(0, 1400, n)
    garden = rng.random(n) < 0.4
    price = np.exp(11 + 0.006 * area + 0.0002 * days + 0.15 * garden + 0.2 * rng.normal(size=n))
    rooms_text = [f"{v:.0f}" for v in rooms]
    for i in rng.choice(n, n // 33, replace=False):
        rooms_text[i] = ""
    return {
        "id": (10_000 + rng.permutation(n)).tolist(),
        "address": [f"{rng.integers(1, 999)} {STREETS[i % 5]} {i}" for i in range(n)],
        "sold": [(datetime(2020, 1, 5) + timedelta(int(d))).strftime("%Y-%m-%d") for d in days],
        "area": [f"{v:,.0f}" for v in area * 10],
        "rooms": rooms_text,
        "garden": np.where(garden, "yes", "no").tolist(),
        "price": [f"€{v:,.0f}" for v in (price / 100).round() * 100],
    }


def patients(n=300, seed=0):
    """Patients: text identifiers, missing values in several columns, a note in free text."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 85, n)
    bmi = rng.normal(26, 4, n).round(1)
    smoker = rng.random(n) < 0.25
    days = np.exp(0.02 * age + 0.03 * bmi + 0.4 * smoker + 0.5 * rng.normal(size=n))
    table = {
        "patient": [f"P-{i:05d}" for i in rng.permutation(n)],
        "admitted": [f"{1 + i % 28:02d}/{1 + i % 12:02d}/2023" for i in rng.integers(0, 900, n)],
        "age": age.tolist(),
        "bmi": [f"{v:g}" for v in bmi],
        "smoker": np.where(smoker, "true", "false").tolist(),
        "ward": DISTRICTS[rng.integers(0, 3, n)].tolist(),
        "note": [f"seen by doctor {rng.integers(1, 9)}, visit {i}" for i in range(n)],
        "days": [f"{v:.1f}" for v in days],
    }
    for name, share in (("bmi", 0.12), ("smoker", 0.05), ("ward", 0.02), ("days", 0.01)):
        for i in np.flatnonzero(rng.random(n) < share):
            table[name][i] = rng.choice(["", "NA"])
    return table


def demand(n=720, seed=0):
    """Hourly demand: the time, the temperature, a holiday flag, the load."""
    rng = np.random.default_rng(seed)
    times = [datetime(2024, 1, 1) + timedelta(hours=i) for i in range(n)]
    hour = np.array([t.hour for t in times])
    weekend = np.array([t.weekday() > 4 for t in times])
    temperature = 5 + 6 * np.sin((hour - 9) * np.pi / 12) + rng.normal(0, 2, n)
    load = 4000 + 1200 * np.sin((hour - 6) * np.pi / 12) - 700 * weekend - 40 * temperature
    return {
        "time": [t.strftime("%Y-%m-%d %H:%M") for t in times],
        "temperature": temperature.round(1).tolist(),
        "holiday": np.where(np.arange(n) < 24, "true", "false").tolist(),
        "load": (load + 150 * rng.normal(size=n)).round().tolist(),
    }


def german(n=300, seed=0):
    """A German Excel export: semicolons, decimal commas, points between thousands, umlauts."""
    rng = np.random.default_rng(seed)
    size = rng.gamma(8, 10, n)
    district = rng.integers(0, 4, n)
    rent = 300 + 11 * size + 80 * district + 90 * rng.normal(size=n)

    def comma(value, digits):
        return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))

    return {
        "Fläche": [comma(v, 1) for v in size],
        "Stadtteil": DISTRICTS[district].tolist(),
        "Bezug": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{2015 + i % 8}" for i in range(n)],
        "Miete": [f"{comma(v, 2)} €" for v in rent],
    }


def write_csv(path, table, *, delimiter=",", encoding="utf-8"):
    """Write a table as CSV."""
    with path.open("w", newline="", encoding=encoding) as stream:
        lines = csv.writer(stream, delimiter=delimiter)
        lines.writerow(table)
        lines.writerows(zip(*table.values(), strict=True))
    return path


def write_all(folder):
    """Write the four tables."""
    write_csv(folder / "houses.csv", houses())
    write_csv(folder / "patients.csv", patients())
    write_csv(folder / "demand.csv", demand())
    write_csv(folder / "miete.csv", german(), delimiter=";", encoding="cp1252")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
