"""Take the picture of the demonstration's terminal again: python docs/_static/demo_terminal.py.

``condensity demo`` is run in a pseudo-terminal, its bytes are replayed on a small screen of text,
and the screen as it is at the end becomes an SVG, without the path of the temporary folder and
without times.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH, HEIGHT = 100, 30
PICTURE = Path(__file__).with_name("demo-terminal.svg")
TOKEN = re.compile(r"\x1b\[\??([\d;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")
#: The fonts that the template of rich would fetch from the network.
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
#: Times depend on the machine and on its other work.
TIMES = re.compile(r" *(?:\x1b\[[\d;]*m)*\d:\d\d:\d\d(?:\x1b\[[\d;]*m)*")


def record(folder: str) -> str:
    """All that the demonstration writes to a terminal of the given size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    env = dict(os.environ, TERM="xterm-256color", COLORTERM="truecolor", COLUMNS=str(WIDTH))
    command = [sys.executable, "-m", "condensity", "demo"]
    run = subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=folder, env=env)
    os.close(theirs)
    seen = b""
    while True:
        try:
            heard = os.read(ours, 4096)
        except OSError:  # the terminal hangs up when the demonstration ends
            break
        if not heard:
            break
        seen += heard
    if run.wait():
        raise RuntimeError(f"the demonstration failed: {seen.decode()}")
    return seen.decode()


def replay(seen: str) -> str:
    """The lines on the screen at the end, with their colours.

    It knows what a progress bar needs: carriage return, line feed, cursor up, erase line.
    """
    lines, row = [""], 0
    for token in TOKEN.finditer(seen):
        code, kind = token.group(1), token.group(2)
        if token.group() == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif kind == "A":
            row = max(0, row - int(code or 1))
        elif kind == "K":
            lines[row] = ""
        elif kind == "m" or not (kind or token.group() == "\r"):
            lines[row] += token.group()
        # What rich draws over a line it erases first, so that a return has nothing to do.
    return "\n".join(lines).strip("\n")


def main() -> None:
    """Record, replay, draw."""
    with tempfile.TemporaryDirectory() as folder:
        text = replay(record(folder)).replace(str(Path(folder).resolve()) + os.sep, "")
        text = TIMES.sub("", text)
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi("$ condensity demo\n" + text), soft_wrap=False)
    svg = FONTS.sub("", console.export_svg(title="condensity demo"))
    PICTURE.write_text(svg)


if __name__ == "__main__":
    main()
