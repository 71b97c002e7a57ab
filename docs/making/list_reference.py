"""The pages that list names: shipped scenarios and experiments, samplers, pictures."""

from __future__ import annotations

from collections.abc import Iterator

from reference_text import row, sentence

from gridtune.optimize.commands.search import sampler_rows
from gridtune.optimize.report.pictures.draw import PLOTS
from gridtune.scenarios.commands.plot import picture_rows
from gridtune.scenarios.commands.reproduce import experiment_rows
from gridtune.scenarios.document.scenario import load, shipped_names


def shipped() -> Iterator[str]:
    """The shipped scenarios, and the papers with their experiments."""
    yield "# Shipped scenarios\n"
    yield "`gridtune scenarios show NAME` prints the document; `gridtune run NAME` simulates it."
    for name in shipped_names():
        spec = load(name).spec
        yield f"\n## {name}\n\n**{sentence(spec.title)}** {' '.join(spec.description.split())}"
        if spec.source:
            yield f"\n*Source: {spec.source}.*"
    yield "\n## Experiments of the papers\n"
    yield "`gridtune reproduce NAME` runs one experiment, or a whole paper.\n"
    yield "| name | title |\n|---|---|"
    for one in experiment_rows():
        yield row(f"`{one['experiment']}`", one["title"])


def samplers() -> Iterator[str]:
    """The samplers of a search, and the kinds of pictures."""
    yield "# Samplers and pictures\n\n## Samplers\n\n`gridtune search --sampler NAME`.\n"
    yield "| sampler | meaning |\n|---|---|"
    for one in sampler_rows():
        yield row(f"`{one['sampler']}`", sentence(one["meaning"]))
    yield "\n## Pictures of a run\n\n`gridtune plot RUN KIND --out FILE`.\n\n| kind | shows |\n|---|---|"
    for one in picture_rows():
        yield row(f"`{one['kind']}`", sentence(one["shows"]))
    yield "\n## Pictures of a search\n"
    yield "`gridtune search --out DIR` writes `pairs.png` and the page `front.html`."
    yield "`gridtune front STUDY --plot KIND.png` draws one of them.\n\n| kind | shows |\n|---|---|"
    for name, (_, meaning) in PLOTS.items():
        yield row(f"`{name}`", sentence(meaning))
