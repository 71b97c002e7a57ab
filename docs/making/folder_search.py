"""Search in pages that are read from a folder, where the browser lets them fetch nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORKER = "assets/folder_search.js"


def on_files(files: Any, config: Any) -> Any:
    """Add the script that stands in for workers (a hook of MkDocs)."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, WORKER, abs_src_path=str(Path(__file__).with_suffix(".js"))))
    return files


def on_post_build(config: Any) -> None:
    """Write the index of words as a script (a hook of MkDocs)."""
    words = Path(config.site_dir, "search", "search_index.json").read_text(encoding="utf-8")
    Path(config.site_dir, "search", "search_index.js").write_text(f"var __index = {words}", encoding="utf-8")
