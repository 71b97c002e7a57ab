"""What is recorded of a run changes none of its metrics."""

import pytest

import gridtune as gt


@pytest.mark.parametrize("name", ["deadline/search", "egee/two-kinds"])
def test_the_period_of_the_samples_changes_no_metric_but_the_number_of_events(name):
    often, seldom = (
        dict(gt.load(name, record__sample_period=period).run(seed=1, tables=False))
        for period in (70.0, 50_000.0)
    )
    assert often.pop("events") > seldom.pop("events")
    assert often == pytest.approx(seldom, nan_ok=True, rel=1e-12)


def test_of_shared_processors_more_is_used_than_gives_results():
    metrics = gt.load("egee/two-kinds").run(seed=1, tables=False)
    assert metrics["utilisation"] >= metrics["goodput"] > 0.7
