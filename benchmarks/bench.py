"""All measurements of speed and memory, one after the other, as one page.

    python benchmarks/bench.py [--only kernel ...] [--page docs/benchmarks.md]

Each section is a script of its own, run in a process of its own on one BLAS thread; what it prints
is its part of the page.  With ``--only`` the other parts of the page stay as they were.
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
    "fits": ("Fit, beside the published procedure", "fits.py"),
    "autodiff": ("Fit, beside automatic differentiation", "autodiff.py"),
    "peers": ("Fit, beside other packages", "peers.py"),
    "stages": ("Where the time of a fit goes", "stages.py"),
    "growth": ("Growth", "growth.py", "--picture", str(PICTURE)),
    "passes": ("Passes over very many samples", "passes.py"),
    "answers": ("Answers", "answers.py"),
    "imports": ("Import", "imports.py"),
    "since": ("Before and after", "since.py"),
}
TOP = """# Benchmarks

Written by `make bench` (`python benchmarks/bench.py --only NAME` measures one section anew). The
figures to trust are the ratios: both of their sides were measured in the same run, in turn where
that can be done. Seconds depend on the machine and on what else it does.
"""
AFTER = {"growth": "![Time and memory of a fit by samples and by inputs](images/growth.png)\n"}


def measure(name):
    """One section as Markdown; what it prints is shown as it comes."""
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
        lines.append(f"\n**This measurement failed** (`python benchmarks/{script}` says why).\n")
    after = f"{AFTER[name]}\n" if name in AFTER else ""
    lines[-1] = lines[-1].rstrip() + "\n"
    lines.append(f"\n{after}*Measured {describe()}*\n")
    print(lines[-1], flush=True)
    return "".join(lines), run.returncode


def sections_of(page):
    """What a page says, by its headings."""
    parts = page.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.strip()}\n" for part in parts}


def targets(known):
    """All verdicts on one table; a figure with a decimal point is a measurement, no label."""
    rows = []
    for heading, text in known.items():
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            labels = [cell for cell in cells if cell and not re.search(r"\d\.\d|met|missed", cell)]
            said = re.findall(r"(?:at \w+ [^:|()]*|faster|slower): (?:met|\*?\*?missed)", line)
            label = ", ".join(labels) if line.startswith("|") else ""
            rows += [(heading, label, one.replace("**", "")) for one in said]
    lines = [f"| {heading} | {label} | {told} |" for heading, label, told in rows]
    met = sum(told.endswith("met") for *_, told in rows)
    return "\n".join(
        [
            f"## Targets\n\n{met} of {len(rows)} met; what was measured is told below.\n",
            "| section | what | target |\n|---|---|---|",
            *(line.replace("missed", "**missed**") for line in lines),
            "",
        ]
    )


def write(path, found):
    """The page with the sections ``found``, by name; others as they were, in the usual order."""
    known = sections_of(path.read_text()) if path.exists() else {}
    known |= {SECTIONS[name][0]: text for name, text in found.items()}
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
        write(options.page, {name: text})  # at once: the next may take long
        failed += [name] if code else []
    if failed:
        sys.exit(f"could not be measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
