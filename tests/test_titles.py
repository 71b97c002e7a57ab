"""A recommendation is called the best in an objective only where no configuration on the front is better."""

from functools import partial

import pytest

from gridtune.optimize.front.front import front
from gridtune.optimize.search import search
from gridtune.scenarios import load
from search_toys import VARY, toy_with_baseline

SUPERLATIVES = {
    "unhappy_users": "fewest unhappy users",
    "unfairness": "lowest unfairness",
    "completed": "most completed jobs",
}


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 12])
def test_no_configuration_on_the_front_is_better_where_a_title_says_best(seed):
    work = partial(toy_with_baseline, scale=1.5)
    scenario = load("diet/day-regular")
    archive = search(
        scenario, budget=40, vary=VARY, work=work, baseline=True, seed=seed, replications=2
    ).archive
    found = front(archive)
    assert archive.recommendations
    said = []
    for one in archive.recommendations:
        for at, objective in enumerate(found.objectives):
            if SUPERLATIVES[objective.name] in one.title:
                said.append(objective.name)
                best = found.costs(found.on_front)[:, at].min()
                assert found.means[one.number][at] <= best + 1e-9
    assert bool(said) == (seed == 12), "one search with a best, and one without"
