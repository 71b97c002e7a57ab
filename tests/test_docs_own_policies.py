"""Policies of one's own, copied from the page of DIET, do what it says of them."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from gridtune.model import plugins, policy
from gridtune.scenarios import load, simulate

PAGE = Path("docs/systems/diet.md")


@pytest.fixture
def run(tmp_path, monkeypatch):
    # A name of a policy counts once in a process.
    monkeypatch.setattr(policy, "_registry", {name: dict(known) for name, known in policy._registry.items()})
    monkeypatch.setattr(plugins, "_loaded", {})
    text = PAGE.read_text(encoding="utf-8")
    for name, language in (("own.py", "python"), ("licences.toml", "toml")):
        (block, *_) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        (tmp_path / name).write_text(block, encoding="utf-8")
    return simulate(load(str(tmp_path / "licences.toml"), allow_plugins=True), keep_events=True)


def test_three_levels_two_services_own_estimates_and_own_dispatch(run):
    asked = {agent for agent, kind, _ in run.record.messages if kind == "discover"}
    assert asked >= {"master-agent", "country", "town"}
    answers = Counter()
    for (agent, kind, _), count in run.record.messages.items():
        if kind == "estimate" and agent.startswith(("large", "small")):
            answers[agent] += count
    assert {answers[f"large-00{k}"] for k in range(4)} == {8}  # of three and five users
    assert {answers[f"small-00{k}"] for k in range(4)} == {5}
    mandatory = [job for job in run.record.jobs if job.mandatory]
    assert len(mandatory) == 26
    assert {job.state for job in mandatory} == {"done"}
    assert run.metrics["unhappy_users"].value == 0
    # Of four large servers with four licences each, and small ones with one, agents keep three.
    assert {job.site for job in run.record.jobs if job.user == "solver-000"} == {
        f"large-00{k}" for k in range(3)
    }


def test_own_dispatch_keeps_one_optional_request_under_way(run):
    for user in {job.user for job in run.record.jobs}:
        spans = sorted(
            (job.queued, job.end) for job in run.record.jobs if job.user == user and not job.mandatory
        )
        assert len(spans) == 4
        assert all(end <= queued for (_, end), (queued, _) in pairwise(spans))
