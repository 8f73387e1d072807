"""All measurements of speed and memory, written to one page.

    python benchmarks/bench.py [--only kernel ...] [--page docs/benchmarks.md]

Each section is a script, run in its own process on one BLAS thread.  Its output is a section of the
page.  With ``--only``, the other sections of the page do not change.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from machine import describe

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
PICTURE = PAGE.parent / "images" / "growth.png"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

SECTIONS = {  # name: heading, script and its options
    "kernel": ("Kernel", "kernel.py"),
    "fits": ("Fit, compared with the published procedure", "fits.py"),
    "autodiff": ("Fit, compared with automatic differentiation", "autodiff.py"),
    "peers": ("Fit, compared with other packages", "peers.py"),
    "stages": ("Stages of a fit", "stages.py"),
    "growth": ("Growth", "growth.py", "--picture", str(PICTURE)),
    "passes": ("Passes over very many samples", "passes.py"),
    "answers": ("Predictions", "answers.py"),
    "bulk": ("Predictions of averaged models", "bulk.py"),
    "imports": ("Import", "imports.py"),
    "since": ("Before and after", "since.py"),
}
TOP = """# Benchmarks

`make bench` writes this page. `python benchmarks/bench.py --only NAME` measures one section again.
The ratios are the reliable figures: both sides of a ratio were measured in the same run,
alternately where possible. Seconds depend on the machine and on its other work.
Each section has the date of its measurement. Fits of `LSCE()` that were measured before
18 November 2026 are older than its flexible and reduced locations and its faster search.
"""
AFTER = {"growth": "![Time and memory of a fit by samples and by inputs](images/growth.png)\n"}


def measure(name):
    """One section as Markdown; its output is also printed."""
    heading, script, *options = SECTIONS[name]
    settings = {**os.environ, **dict.fromkeys(THREADS, "1")}
    command = [sys.executable, str(HERE / script), *options]
    lines = [f"## {heading}\n", "\n"]
    print(*lines, sep="", end="", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings) as run:
        for line in run.stdout:
            lines.append(line)
            print(line, end="", flush=True)
    if run.returncode:
        lines.append(
            f"\n**This measurement failed** (`python benchmarks/{script}` prints the error).\n"
        )
    after = f"{AFTER[name]}\n" if name in AFTER else ""
    lines[-1] = lines[-1].rstrip() + "\n"
    lines.append(f"\n{after}*Measured {describe()}*\n")
    print(lines[-1], flush=True)
    return "".join(lines), run.returncode


def sections_of(page):
    """The sections of a page by their headings."""
    parts = page.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.strip()}\n" for part in parts}


def targets(known):
    """All targets as one table; a cell with a decimal point is a measurement, not a label."""
    rows = []
    for heading, text in known.items():
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            labels = [cell for cell in cells if cell and not re.search(r"\d\.\d|met|missed", cell)]
            verdicts = re.findall(r"(?:at \w+ [^:|()]*|faster|slower): (?:met|\*?\*?missed)", line)
            label = ", ".join(labels) if line.startswith("|") else ""
            rows += [(heading, label, one.replace("**", "")) for one in verdicts]
    lines = [f"| {heading} | {label} | {verdict} |" for heading, label, verdict in rows]
    met = sum(verdict.endswith("met") for *_, verdict in rows)
    return "\n".join(
        [
            f"## Targets\n\n{met} of {len(rows)} targets are met. Figures are below.\n",
            "| section | row | target |\n|---|---|---|",
            *(line.replace("missed", "**missed**") for line in lines),
            "",
        ]
    )


def write(path, measured):
    """Write the page with new sections by name; the other sections do not change."""
    known = sections_of(path.read_text()) if path.exists() else {}
    known |= {SECTIONS[name][0]: text for name, text in measured.items()}
    parts = [known[heading] for heading, *_ in SECTIONS.values() if heading in known]
    summary = targets({part.partition("\n")[0][3:]: part for part in parts})
    path.write_text("\n".join([TOP, summary, *(part.strip() + "\n" for part in parts)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    failed = []
    for name in options.only:
        text, code = measure(name)
        write(options.page, {name: text})  # now, because the next section may take long
        failed += [name] if code else []
    if failed:
        sys.exit(f"could not be measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
