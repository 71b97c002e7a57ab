"""Explanations: paired differences, gains and costs, neighbours, settings put back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gridtune.optimize.explanation.explain import Ablation, explain, find_configuration
from gridtune.optimize.explanation.report import told, told_changes
from gridtune.optimize.front.changes import change as change_of
from gridtune.optimize.front.changes import gains
from gridtune.optimize.front.front import front
from gridtune.optimize.records.difference import difference
from gridtune.optimize.runs.stored import load as load_study
from gridtune.optimize.runs.table import FIRST_VALIDATION
from gridtune.optimize.search import search
from gridtune.scenarios import load
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.workers.pool import Pool
from tests.facts import missing
from tests.search_toys import VARY, toy, toy_with_baseline

pytestmark = pytest.mark.long

STANDS = {"sed.speed": 1.0, "client.dispatch": "ethic", "client.dispatch.window": 1, "client.n_submit": 190}


def at_defaults(task):
    """The toy, which also knows what the baseline has."""
    values = {path: value for path, value in STANDS.items() if path not in task.values}
    return toy(replace(task, values={**values, **task.values}))


def test_paired_differences_agree_with_a_paired_t_test():
    draws = np.random.default_rng(0)
    a, b = draws.normal(size=7), draws.normal(0.4, 1, size=9)
    found = difference(a, b)
    known = stats.ttest_rel(a, b[:7])
    interval = known.confidence_interval(0.95)
    assert found.pairs == 7
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.p_value == pytest.approx(known.pvalue)
    assert found.mean == pytest.approx((a - b[:7]).mean())


@pytest.mark.parametrize(
    ("to", "start", "p_value"),
    [
        ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 1.0),
        ((0.1 + 0.2, 2.0), (0.3, 2.0), 1.0),  # rounding is no difference
        ((2.0, 3.0, 4.0), (1.0, 2.0, 3.0), 0.0),  # in every replication
        ((3.0,), (1.0,), None),
    ],
)
def test_how_sure_a_difference_is(to, start, p_value):
    assert difference(to, start).p_value == p_value
    assert difference(to, start).equal == (p_value == 1.0)


def test_nothing_in_common_cannot_be_compared():
    with pytest.raises(ValueError, match="without a common replication"):
        difference((), (1.0,))


def searched(folder, **options):
    search(
        load("diet/day-regular"), sampler="random", vary=VARY, out=folder,
        **({"budget": 40, "work": toy, "replications": 2} | options),
    )  # fmt: skip
    return load_study(folder)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return searched(tmp_path_factory.mktemp("study"))


def explained(kept, configuration, work=at_defaults, **options):
    chosen = find_configuration(front(kept.archive), str(configuration))
    with Pool(1) as pool:
        return explain(chosen, kept.settings, pool=pool, work=work, **options)


def members(kept, dispatch):
    found = front(kept.archive)
    return [m for m in found.on_front if m.values["client.dispatch"] == dispatch]


def some_configuration(kept):
    """A configuration of the front."""
    return front(kept.archive).on_front[0].number


def noiseless(values):
    """What the toy gives beside its noise."""
    task = type("Task", (), {"values": {**STANDS, **values}, "seed": 1, "replication": FIRST_VALIDATION})
    return {name: metric.value for name, metric in toy(task).items()}


def test_a_configuration_is_compared_with_the_scenario_itself(kept):
    configuration = members(kept, "legacy")[-1]
    found = explained(kept, configuration.number)
    base, here = noiseless({}), noiseless(configuration.values)
    assert [change.metric.name for change in found.changes] == ["unhappy_users", "unfairness", "completed"]
    for change in found.changes:
        name = change.metric.name
        # The noise is common to all configurations, so it cancels (where the toy does not cut off below 0).
        assert change.difference.mean == pytest.approx(here[name] - base[name], abs=0.05)
    assert found.changes[2].better == (here["completed"] > base["completed"])
    settings = {one.path: (one.value, one.baseline) for one in found.settings}
    assert settings["client.dispatch"] == ("legacy", "ethic")
    assert settings["sed.speed"] == (configuration.values["sed.speed"], 1.0)


def test_runs_again_what_the_front_was_validated_by(kept):
    validated = [m for m in front(kept.archive).members if m.validated]
    configuration = max(validated, key=lambda one: len(one.validated["unfairness"].values))
    found = explained(kept, configuration.number, ablate=False)
    most = len(configuration.validated["unfairness"].values)
    assert found.replications == max(5, most)
    again = explained(kept, configuration.number, ablate=False, replications=most)
    for change in again.changes:
        assert change.to == pytest.approx(configuration.validated[change.metric.name].mean)
    assert again.runs == most * 2
    assert again.ablations is None


def test_each_setting_is_put_back_alone_with_those_that_hang_on_it(kept):
    configuration = members(kept, "legacy")[-1]
    found = explained(kept, configuration.number)
    assert found.runs == found.replications * (2 + 3)
    removed = {one.path: one for one in found.ablations}
    assert removed["client.dispatch"].along == ("client.n_submit",)
    assert removed["client.dispatch"].left == {"sed.speed": configuration.values["sed.speed"]}
    assert removed["client.n_submit"].along == ()
    for one in found.ablations:
        left = noiseless(one.left)["completed"] - noiseless(configuration.values)["completed"]
        assert one.changes[2].difference.mean == pytest.approx(left)
    spans = {
        name: np.ptp([e.objectives[name].mean for e in kept.archive.evaluations])
        for name in ("unhappy_users", "unfairness", "completed")
    }
    effects = [
        max(abs(c.difference.mean) / spans[c.metric.name] for c in one.changes if c.beyond_noise)
        for one in found.ablations
    ]
    assert effects == sorted(effects, reverse=True)


def test_neighbours_lie_on_either_side_in_every_objective(kept):
    configuration = members(kept, "ethic")[0]
    found = explained(kept, configuration.number, ablate=False)
    assert found.row.on_front
    assert found.dominated_by == ()
    said = found.to_dict()
    assert (said["dominators"], len(said["neighbours"])) == ([], len(found.around))
    known = front(kept.archive)
    for one in found.around:
        for change in one.changes:
            name = change.metric.name
            assert change.to == known.value(one.number, change.metric), "as the front shows it"
            truth = noiseless(known.archive.evaluations[one.number].values)[name]
            assert change.to == pytest.approx(truth, rel=0.01, abs=0.05)
            better = change.difference.mean * (1 if change.metric.direction == "maximize" else -1)
            assert name not in one.better_in or better > 0
            assert name not in one.worse_in or better < 0
        other = next(e for e in kept.archive.evaluations if e.number == one.number)
        assert all(
            (configuration.values.get(path), other.values.get(path)) == (here, there) and here != there
            for path, here, there in one.differs
        )
    for at, objective in enumerate(known.objectives):
        here = known.means[configuration.number][at]
        better = [m for m in known.on_front if known.means[m.number][at] < here - 1e-9]
        assert bool(better) == any(objective.name in one.better_in for one in found.around)


def test_a_configuration_off_the_front_is_told_what_dominates_it(kept, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    on_front = {m.number for m in front(kept.archive).members}
    dominated = [
        explained(kept, e.number, ablate=False)
        for e in kept.archive.evaluations[:12]
        if e.number not in on_front
    ]
    assert any(found.dominated_by for found in dominated)
    for found in dominated:
        assert not found.row.on_front
        for one in found.around:
            assert all(change.better or change.difference.mean == 0 for change in one.changes)
            assert any(change.better for change in one.changes)
        if found.dominated_by:
            said = found.to_dict()
            assert (len(said["dominators"]), said["neighbours"]) == (len(found.around), [])
        text = told(found)
        for number in found.dominated_by or found.dominated_in_search:
            assert str(number) in text.splitlines()[1]


def test_a_recommendation_can_be_asked_for_by_letter_or_title(with_baseline):
    for one in with_baseline.archive.recommendations:
        for name in (one.letter, one.letter.lower()):
            found = explained(with_baseline, name, work=toy_with_baseline, ablate=False)
            assert found.row.number == one.number
            assert found.row.advice == one
    baseline = explained(with_baseline, "baseline", work=toy_with_baseline, ablate=False)
    assert baseline.row.number == with_baseline.archive.baseline


@pytest.mark.parametrize("configuration", ["400", "-1", "best", "1.5"])
def test_an_unknown_configuration_is_refused_with_the_front_that_there_is(kept, configuration):
    with pytest.raises(ScenarioError) as refused:
        explained(kept, configuration)
    assert len(refused.value.faults) == 1
    assert not missing(str(refused.value), configuration, f"front has {some_configuration(kept)}")


def test_words_name_gains_prices_and_doubts(kept):
    configuration = members(kept, "legacy")[-1]
    text = told(explained(kept, configuration.number))
    for part in (
        f"Configuration {configuration.number}", "It sets",
        "client.dispatch = legacy (baseline: ethic): legacy: A number of requests",
        "Against the baseline", "gains: ", "costs: ", "in every run", "reset alone",
        "client.dispatch back to ethic, which takes client.n_submit with it", "simulations",
    ):  # fmt: skip
        assert part in " ".join(text.split())
    assert "seen replication" not in text  # the same for all


@pytest.mark.parametrize("width", [80, 120, 200])
def test_an_explanation_keeps_the_width_of_the_terminal(kept, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    found = explained(kept, members(kept, "legacy")[-1].number)
    lines = told(found).splitlines()
    assert width - 30 < max(map(len, lines)) <= width


def test_what_an_interval_holds_0_of_is_neither_gained_nor_paid(kept):
    found = explained(kept, members(kept, "legacy")[-1].number, ablate=False)
    metric = found.changes[0].metric
    pairs = (0.0, 0.0, 0.0, 0.0), (1.0, 1.4, 2.6, 0.2)
    doubtful = change_of(replace(metric, name="waiting_mean", unit="s"), *pairs)
    assert doubtful.difference.p_value < 0.1
    assert not doubtful.significant
    words = " ".join(told(replace(found, changes=(doubtful,))).split())
    assert not missing(words, "no significant difference: waiting time", "higher by 1.3 s", "-0.291 to 2.89")
    assert not missing(words, "no objective", "baseline")
    assert Ablation("", None, (), {}, changes=(doubtful,)).effect({"waiting_mean": 1.0}) == 0


def test_one_replication_says_nothing_of_confidence(kept):
    configuration = members(kept, "legacy")[-1]
    found = explained(kept, configuration.number, replications=1)
    assert all(change.difference.p_value is None for change in found.changes)
    text = told(found)
    assert "--replications asks for more" in text
    assert "clearly higher" not in text


def base_fails(task):
    if not task.values:
        raise RuntimeError("nothing stands")
    return at_defaults(task)


def test_a_scenario_that_fails_itself_is_no_obstacle(kept):
    found = explained(kept, some_configuration(kept), work=base_fails, ablate=False)
    assert found.changes == ()
    assert "nothing stands" in told(found)


def all_fail(task):
    raise RuntimeError("no\nway")


def test_a_configuration_that_fails_is_an_error(kept):
    with pytest.raises(ScenarioError, match="validation seeds: RuntimeError: no way"):
        explained(kept, some_configuration(kept), work=all_fail)


def test_cases_and_constraints_of_a_search_hold_for_its_explanation(tmp_path):
    kept = searched(tmp_path, seeds=[1, 2], require=["unfairness<=2"])
    found = explained(kept, some_configuration(kept))
    assert found.runs == 2 * found.replications * (2 + len(found.ablations))
    assert [(str(one.constraint), one.excess <= 0) for one in found.bounds] == [("unfairness<=2", True)]
    assert "It meets unfairness<=2" in told(found)
    assert found.to_dict()["constraints"][0]["holds"] is True


def test_an_unvalidated_front_is_compared_by_the_runs_that_it_has(tmp_path):
    kept = searched(tmp_path, validation_replications=0)
    found = explained(kept, some_configuration(kept), ablate=False)
    assert found.around
    assert found.runs == 5 * 2, "of the configuration and the baseline"
    few = searched(tmp_path / "few", budget=12, replications=1, validation_replications=0)
    found = explained(few, some_configuration(few), ablate=False)
    assert front(few.archive).posterior is None
    assert all(change.difference.pairs == 5 for change in found.changes)
    assert all(change.difference.pairs == 1 for one in found.around for change in one.changes)


@pytest.fixture(scope="module")
def with_baseline(tmp_path_factory):
    return searched(tmp_path_factory.mktemp("baseline"), work=toy_with_baseline, baseline=True)


def test_what_the_front_has_judged_is_said_with_the_numbers_of_the_front(with_baseline):
    known, compared = front(with_baseline.archive), 0
    for evaluation in known.on_front[:3]:
        if evaluation.number == known.archive.baseline:
            continue
        found = explained(with_baseline, evaluation.number, work=toy_with_baseline, ablate=False)
        assert found.modelled
        said = gains(known, evaluation)
        assert [c.difference for c in found.changes] == [c.difference for c in said]
        assert [c.to for c in found.changes] == [known.value(evaluation.number, o) for o in known.objectives]
        assert all(line in " ".join(told(found).split()) for line in told_changes(said))
        assert not found.notes
        compared += len(known.objectives) * (1 + len(found.around))
    assert compared > 20


def test_paths_mean_what_policies_and_schemas_say():
    scenario = load("diet/day-regular")
    window = meaning(scenario, "client.dispatch.window")
    assert (window.value, window.unit) == (1, "requests")
    assert "optional requests" in window.text
    assert meaning(scenario, "client.dispatch").value == "ethic"
    assert meaning(scenario, "client.dispatch").text.startswith("ethic: ")
    assert meaning(scenario, "client.n_submit").text
    assert meaning(scenario, "sed.*.speed").value == 1.0
    assert meaning(scenario, "nothing.here").value is None


def test_where_elements_differ_there_is_no_one_value():
    plain = load("diet/day-regular")
    servers = [{"name": "slow", "count": 1}, {"name": "fast", "count": 1, "speed": 2.0}]
    scenario = replace(plain, document={**plain.document, "sed": servers})
    assert meaning(scenario, "sed.*.speed").value is None
    assert meaning(scenario, "sed.fast.speed").value == 2.0
    assert meaning(scenario, "sed.*.count").value == 1
