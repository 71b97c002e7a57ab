"""A scenario as a Mesa model: stepped, run, collected from, made anew and run in batches."""

import gc
import weakref
from dataclasses import asdict
from math import inf, isnan

import mesa
import pytest

import gridtune as gt
from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import METRICS
from gridtune.scenarios import load, shipped_text, simulate
from gridtune.scenarios.errors import ScenarioError

DAY = "diet/day-regular"


def values(metrics):
    """Metrics to compare bit for bit, those that are not numbers included."""
    return {name: repr(metric.value) for name, metric in metrics.items()}


def fates(model):
    return repr(
        [(job.id, job.user, job.site, job.start, job.end, str(job.state)) for job in model.record.jobs]
    )


def told(users):
    """What is known of users, as text: a nan is no other nan where Python compares field by field (3.13)."""
    return {name: repr(asdict(user)) for name, user in users.items()}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        (DAY, {"step_length": 7.3}),
        (DAY, {"step_length": 10.0, "horizon": 84.5}),
        (DAY, {"step_length": inf}),
        ("dirac/search", {"step_length": 2000.0, "platform__sites": 2}),
        ("egee/search", {"step_length": 7000.0}),
        ("cigri/search", {"step_length": 6000.0}),
    ],
)
def test_steps_and_a_run_give_what_gridtune_run_gives(name, overrides):
    run = simulate(load(name).override({path.replace("__", "."): v for path, v in overrides.items()}), 3)
    stepped, at_once = gt.GridModel(name, 3, **overrides), gt.GridModel(name, 3, **overrides)
    stepped.run_model()
    at_once.run()
    assert fates(stepped) == fates(at_once) == fates(run)
    assert values(stepped.metrics) == values(at_once.metrics) == values(run.metrics)
    assert stepped.now == at_once.now == run.end
    assert told(stepped.users) == told(run.users)
    assert not stepped.running
    assert not at_once.running


@pytest.mark.long
def test_a_batch_run_over_two_parameters_gives_the_numbers_of_gridtune_run():
    parameters = {
        "scenario": DAY,
        "client__dispatch": "legacy",
        "client__n_submit": [50, 190],
        "replication": [0, 1],
        "step_length": 50.0,
    }
    rows = mesa.batch_run(gt.GridModel, parameters, display_progress=False)
    assert [(row["client__n_submit"], row["replication"]) for row in rows] == [
        (50, 0), (50, 1), (190, 0), (190, 1)
    ]  # fmt: skip
    for row in rows:
        changed = load(DAY).override(
            {"client.dispatch": "legacy", "client.n_submit": row["client__n_submit"]}
        )
        expected = simulate(changed, 1, row["replication"]).metrics
        assert {name: repr(row[name]) for name in expected} == values(expected)
        assert row["time"] == simulate(changed, 1, row["replication"]).end
        assert row["running"] is False


def test_a_batch_run_that_is_cut_off_says_so():
    (row,) = mesa.batch_run(gt.GridModel, {"scenario": DAY}, max_steps=5, display_progress=False)
    assert row["running"] is True


@pytest.mark.long
def test_signals_are_collected_at_the_end_of_each_step():
    model = gt.GridModel(DAY, step_length=1.0, record__sample_period=1.0)
    model.run_model()
    frame = model.datacollector.get_model_vars_dataframe().set_index("time")
    sampled = [(time, value) for time, name, value in model.record.signals if name == "sed.waiting" and time]
    beyond, _ = sampled.pop()
    assert sampled[-1][0] <= model.now < beyond < model.now + 1.0, "the last one is no part of the run"
    assert len(sampled) > 100
    assert [(time, frame["sed.waiting"][time]) for time, _ in sampled] == sampled
    assert frame["completed"].is_monotonic_increasing
    assert frame["completed"].iloc[-1] == model.metrics["completed"].value
    assert list(frame["running"]) == [True] * (len(frame) - 1) + [False]


def test_nothing_is_collected_after_the_end():
    model = gt.GridModel(DAY, step_length=inf)
    model.step()
    assert not model.running
    model.step()
    model.run()
    assert len(model.datacollector.model_vars["time"]) == 1


def test_agents_are_mesa_agents_of_the_model_with_numbers_of_their_own():
    model = gt.GridModel(DAY, step_length=15.0)
    model.step()
    numbers = [agent.unique_id for agent in model.agents]
    assert len(set(numbers)) == len(numbers) > 10
    assert all(agent.model is model for agent in model.agents)
    assert isinstance(model, mesa.Model)


def test_models_that_nobody_closes_are_freed():
    kept = []
    for _ in range(3):
        model = gt.GridModel(DAY, step_length=20.0)
        model.step()
        mesa.Agent(model)  # one of the user's own
        kept.append(weakref.ref(model))
    del model
    gc.collect()
    assert [ref() for ref in kept] == [None] * 3


@pytest.mark.long
def test_what_a_run_leaves_behind_does_not_hold_its_grid():
    gc.collect()
    before = len([one for one in gc.get_objects() if isinstance(one, Grid)])
    run = simulate(load("federation/small").override({"horizon": 600.0}))
    gc.collect()
    assert len([one for one in gc.get_objects() if isinstance(one, Grid)]) <= before
    assert run.metrics
    assert run.record.jobs


def test_the_seed_goes_by_both_names_and_may_be_left_out():
    name = "diet/day-irregular-random"
    made = [gt.GridModel(name, **given) for given in ({}, {"seed": None}, {"rng": 1}, {"seed": 2})]
    for model in made:
        model.run()
    assert fates(made[0]) == fates(made[1]) == fates(made[2]) != fates(made[3])
    with pytest.raises(ScenarioError, match="seed=1, rng=1: both mean the seed"):
        gt.GridModel(name, seed=1, rng=1)
    with pytest.raises(ScenarioError, match="seed: -1 is no whole number"):
        gt.GridModel(name, seed=-1)


def test_values_that_do_not_fit_are_refused_by_path():
    with pytest.raises(ScenarioError, match=r"client.n_submti: no such key; did you mean n_submit\?"):
        gt.GridModel(DAY, client__n_submti=3)
    with pytest.raises(ScenarioError, match="no such scenario"):
        gt.GridModel("diet/day-regualr")


def test_metrics_of_ones_own_are_measured_once_the_run_has_ended(tmp_path):
    plugin = tmp_path / "late.py"
    plugin.write_text(
        "import gridtune as gt\n"
        '@gt.metric("done_share_here", unit="", direction="maximize")\n'
        "def share(run):\n"
        '    return sum(job.state == "done" for job in run.jobs) / len(run.jobs)\n',
        encoding="utf-8",
    )
    mine = tmp_path / "mine.toml"
    mine.write_text(f'plugins = ["{plugin.name}"]\n{shipped_text(DAY)}', encoding="utf-8")
    model = gt.GridModel(load(mine, allow_plugins=True), step_length=60.0)
    model.run_model()
    *before, last = model.datacollector.model_vars["done_share_here"]
    assert len(before) == 3
    assert all(map(isnan, before))
    assert last == model.metrics["done_share_here"].value > 0
    METRICS.pop("done_share_here")  # other tests list all metrics


def test_the_reset_of_solaraviz_starts_anew_with_the_same_numbers():
    solara = pytest.importorskip("solara", reason="the extra [watch] is not installed")
    import ipyvuetify
    from mesa.visualization import SolaraViz

    made = solara.reactive(gt.GridModel(DAY, seed=4, step_length=50.0))
    first = made.value
    parameters = {
        "scenario": DAY,
        "seed": 4,
        "step_length": 50.0,
        "client__dispatch": {"type": "Select", "value": "ethic", "values": ["ethic", "legacy"]},
    }

    @solara.component
    def page():
        with solara.AppLayout():
            SolaraViz(made, model_params=parameters)

    _, context = solara.render(page(), handle_error=False)

    def click(label):
        context.find(ipyvuetify.Btn, children=[label]).widget.click()

    click("Step")
    assert made.value is first
    assert first.now == 50.0
    click("Reset")
    assert made.value is not first
    assert made.value.now == 0.0
    while made.value.running:
        click("Step")
    assert values(made.value.metrics) == values(simulate(load(DAY), 4).metrics)
    context.close()
