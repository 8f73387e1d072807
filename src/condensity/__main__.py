"""``condensity`` and ``python -m condensity``: the command line."""

from __future__ import annotations

import sys

from condensity._utils.extras import require


def main() -> None:
    """Run the command line, or print how to install it."""
    try:
        for module in ("typer", "rich"):
            require(module, "cli")
    except ModuleNotFoundError as error:
        sys.exit(f"condensity: {error}")
    from condensity.cli.app import run_app

    run_app()


if __name__ == "__main__":
    main()
