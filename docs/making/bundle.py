"""Writes the scripts that draw the charts of a front's page: Vega, Vega-Lite and Vega-Embed in one file.

Run `python docs/making/bundle.py` when Altair speaks a later Vega-Lite; it needs `vl-convert-python`, which
nothing else of gridtune does. The file is part of the package, so that a page is written without a JavaScript
engine.
"""

from __future__ import annotations

import gzip
from pathlib import Path

ROOM = Path(__file__).parents[2] / "optimize" / "visualization"
MOST = 1_000_000  # bytes of a file in the repository


def bundle() -> tuple[str, str]:
    """The version of Vega-Lite, as `6.4`, and the scripts."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return version, vl_convert.javascript_bundle(vl_version=version)


def main() -> None:
    """Write the file."""
    version, text = bundle()
    packed = gzip.compress(text.encode(), 9, mtime=0)
    if len(packed) > MOST:
        raise SystemExit(f"{len(packed):,} bytes; at most {MOST:,} may be")
    for old in ROOM.glob("vega-lite-*.js.gz"):
        old.unlink()
    (ROOM / f"vega-lite-{version}.js.gz").write_bytes(packed)
    print(f"vega-lite-{version}.js.gz: {len(packed):,} bytes")


if __name__ == "__main__":
    main()
