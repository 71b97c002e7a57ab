"""The command line of gridtune: parses, calls, prints."""

from __future__ import annotations

import typer

app = typer.Typer(name="gridtune", no_args_is_help=True, help="Simulate grids and search their policies.")


def main() -> None:
    """Entry point of the console script."""
    app()


if __name__ == "__main__":
    main()
