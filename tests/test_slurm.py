"""Slurm's files: what a site takes over from them, what it cannot, and which lines change."""

import json
import shlex
from datetime import UTC, datetime
from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random

import pytest

from gridtune.model.batch.priority import HIGHEST
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.calibration.logs import qos_of
from gridtune.scenarios.slurm import slurm_changes, slurm_seed
from gridtune.scenarios.slurm.conf import QOS_COLUMNS, host_names, read_conf, seconds
from gridtune.scenarios.slurm.qos import ORDER
from gridtune.scenarios.slurm.seed import NO_DECAY
from tests.facts import missing, unstated
from tests.test_cli import gridtune, refused

CONF = """\
# a site
ClusterName=hill
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=2880,\\
bf_max_job_test=1000,bf_continue
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityMaxAge=3-0
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightQOS=2000
PriorityFlags=ACCRUE_ALWAYS
PreemptType=preempt/qos
PreemptMode=REQUEUE
OverTimeLimit=5
NodeName=n[01-10] CPUs=8 State=UNKNOWN
NodeName=fat[1,3] Sockets=2 CoresPerSocket=10 # big ones
PartitionName=DEFAULT State=UP MaxTime=1-0
PartitionName=debug Nodes=n[01-02] MaxTime=30 PriorityTier=10 MaxNodes=1
PartitionName=work Nodes=ALL Default=YES
PartitionName=old Nodes=ALL State=DOWN
Include more.conf
"""


def qos_row(**facts):
    return "|".join(str(facts.get(column, "")) for column in QOS_COLUMNS)


QOS = "\n".join(
    (
        qos_row(name="normal", gracetime="00:02:00", maxtrespu="cpu=64", maxjobspu=20),
        qos_row(name="urgent", priority=100, preempt="normal", preemptmode="cluster", maxwall="01:00:00"),
        qos_row(name="long", maxwall="7-00:00:00", maxjobspu=2),
    )
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "qos.txt").write_text(QOS + "\n")
    return tmp_path / "slurm.conf", tmp_path / "qos.txt"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7-0", 7 * 86400), ("1-12:30", 86400 + 45000), ("30", 1800), ("90:30", 5430), ("1:00:10", 3610),
        ("UNLIMITED", inf), ("0", 0),
    ],
)  # fmt: skip
def test_times_as_slurm_writes_them(text, expected):
    assert seconds({"maxtime": text}, "MaxTime", "1-0") == expected


def test_what_is_no_time_is_said_with_its_key_and_whose_it_is():
    with pytest.raises(ScenarioError, match=r"^PartitionName=a: MaxTime=soon: "):
        seconds({"maxtime": "soon"}, "MaxTime", "1-0", "PartitionName=a")


@pytest.mark.parametrize("key", ["maxwall", "gracetime", "preemptexempttime"])
def test_times_of_a_qos_that_are_none_name_the_qos(files, key):
    conf, qos = files
    row = {"name": "urgent", "priority": 100, "preempt": "normal", "maxwall": "60", key: "soon"}
    victim = {"name": "normal"} if key == "maxwall" else {"name": "normal", key: "soon"}
    qos.write_text("\n".join([qos_row(**row), qos_row(**victim)]))
    with pytest.raises(ScenarioError, match=f"(?i)QOS (urgent|normal): {key}=soon: "):
        slurm_seed(conf, qos)


def test_a_row_of_qos_with_other_fields_than_names_is_refused(files):
    files[1].write_text("Name|Priority|MaxWall\nnormal|0|\nlong|5\n")
    with pytest.raises(ScenarioError, match=r"QOS long: 2 .* 3"):
        slurm_seed(*files)


def test_hosts_and_their_processors(files):
    assert list(host_names("a,n[08-10,x],b[1-2]c[3,4]")) == [
        "a", "n08", "n09", "n10", "nx", "b1c3", "b1c4", "b2c3", "b2c4",
    ]  # fmt: skip
    conf = read_conf(files[0])
    assert conf.processors() == 10 * 8 + 2 * 20
    assert conf.processors("n[01-02],fat3") == 36
    assert conf.processors("elsewhere") is None


def test_a_site_takes_over_what_it_can_have(files):
    seed = slurm_seed(*files)
    assert seed.policy == {
        "kind": "priority", "weight_age": 100.0, "weight_fairshare": 1000.0, "max_age": 3 * 86400.0,
        "half_life": 14 * 86400.0, "by": "account", "algorithm": "fair-tree", "reservations": "all",
        "interval": 60.0, "window": 2 * 86400.0, "queue_depth": 1000,
    }  # fmt: skip
    assert seed.processors == 120
    debug, work = seed.site["queue"]
    assert debug == {
        "name": "debug", "priority": 10.0, "max_runtime": 1800.0, "slots": 16, "max_processors": 16,
    }  # fmt: skip
    assert work == {"name": "work", "priority": 1.0, "max_runtime": 86400.0}
    assert {key: value for key, value in seed.site.items() if key != "queue"} == {
        "preemption.express": 3600.0, "preemption.mode": "requeue", "preemption.grace": 120.0,
    }  # fmt: skip


def test_what_has_no_counterpart_is_named(files):
    assert not unstated(
        slurm_seed(*files).without,
        ["OverTimeLimit=5"],
        ["SchedulerParameters", "bf_continue"],
        ["PriorityFlags", "ACCRUE_ALWAYS"],
        ["PartitionName=debug", "MaxNodes=1"],
        ["PartitionName=old", "State=DOWN"],
        ["partition", "suspends", "GraceTime"],
        ["PriorityWeightQOS", "log"],
        [ORDER],
        ["no QOS", "01:00:00", "urgent"],
        ["QOS normal", "maxjobspu=20"],
        ["QOS normal", "maxtrespu=cpu=64"],
        ["QOS long", "maxjobspu=2"],
        ["QOS long", "maxwall=7-00:00:00"],
        ["Include", "more.conf"],
    )
    alone = slurm_seed(files[0])
    assert any(line.startswith("PreemptType=preempt/qos") for line in alone.without)
    assert "quota.user_running" not in alone.site


# The file of a site, without lines that say who starts when.
USUAL = """\
ClusterName=linux
SlurmctldHost=ctl(10.0.0.1)
SlurmctldPort=6817
SlurmdPort=6818
SchedulerPort=7321
SlurmUser=slurm
SlurmdUser=root
SlurmctldDebug=info
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmSchedLogLevel=0
SlurmctldParameters=enable_configless
SlurmctldTimeout=120
SlurmdSpoolDir=/var/spool/slurmd/%n
StateSaveLocation=/var/spool/slurmctld
AuthType=auth/munge
AuthAltParameters=jwt_key=/etc/slurm/jwt.key
CredType=cred/munge
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db
AccountingStorageTRES=gres/gpu
AccountingStoreFlags=job_comment
AccountingStorageEnforce=associations,qos
AcctGatherNodeFreq=30
JobAcctGatherType=jobacct_gather/cgroup
JobCompType=jobcomp/elasticsearch
JobContainerType=job_container/tmpfs
JobRequeue=1
BatchStartTimeout=10
CheckpointType=checkpoint/none
CommunicationParameters=NoAddrCache
CompleteWait=0
CoreSpecPlugin=core_spec/none
DefMemPerCPU=2000
DisableRootJobs=NO
EnforcePartLimits=NO
Prolog=/etc/slurm/prolog.d/*
Epilog=/etc/slurm/epilog.d/*
PrologFlags=Alloc,Contain,X11
GroupUpdateTime=600
HealthCheckProgram=/usr/sbin/nhc
InactiveLimit=0
KillWait=30
LaunchParameters=use_interactive_step
LogTimeFormat=iso8601_ms
MailProg=/bin/mail
MaxArraySize=1001
MaxJobCount=10000
MCSPlugin=mcs/none
MessageTimeout=10
MinJobAge=300
MpiDefault=pmix
MpiParams=ports=12000-12999
OverTimeLimit=0
PlugStackConfig=/etc/slurm/plugstack.conf
PreemptMode=OFF
PreemptType=preempt/none
PriorityCalcPeriod=5
PriorityType=priority/multifactor
PriorityUsageResetPeriod=NONE
PriorityWeightTRES=
PrivateData=jobs
ProctrackType=proctrack/cgroup
PropagateResourceLimits=ALL
RebootProgram=/sbin/reboot
ResumeRate=300
ResumeTimeout=60
ReturnToService=1
RoutePlugin=route/default
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SuspendTime=-1
SwitchType=switch/none
TaskPlugin=task/affinity,task/cgroup
TmpFS=/tmp
TopologyPlugin=topology/none
TreeWidth=50
UnkillableStepTimeout=60
UsePAM=1
Waittime=0
FrontendName=front State=UP
NodeName=DEFAULT Sockets=2 CoresPerSocket=2 RealMemory=9000 TmpDisk=5 Weight=3 State=UNKNOWN
NodeName=n[1-9] NodeAddr=10.0.0.[1-9] Port=7000
PartitionName=DEFAULT MaxNodes=UNLIMITED MinNodes=1 AllowGroups=ALL LLN=NO OverSubscribe=NO DefMemPerCPU=1
PartitionName=work Nodes=ALL Default=YES MaxTime=UNLIMITED DefaultTime=60 Hidden=NO State=UP
"""


def test_usual_lines_that_do_not_decide_who_starts_when_are_passed_over(tmp_path):
    seed = slurm_seed(_written(tmp_path, "slurm.conf", USUAL))
    assert (seed.processors, list(seed.without)) == (36, [])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        *((line, line) for line in (
            "CompleteWait=300", "Licenses=matlab:2", "SuspendTime=600", "ResumeTimeout=900", "GresTypes=gpu",
            "JobSubmitPlugins=lua", "TopologyPlugin=topology/tree", "SelectType=select/linear",
            "SelectTypeParameters=CR_Core_Memory", "PreemptMode=GANG", "OfTomorrow=yes",
        )),
        *((f"PartitionName=b Nodes=ALL {word}", f"PartitionName=b {word}") for word in (
            "AllowAccounts=a17", "ExclusiveUser=YES", "MinNodes=2",
        )),
        ("PartitionName=b", "PartitionName=b Nodes"),
        ("AccountingStorageEnforce=limits", "AccountingStorageEnforce=limits"),
        ("NodeName=m CPUs=1 CoreSpecCount=1", "NodeName CoreSpecCount"),
        ("PartitionName=b State=DRAIN", "PartitionName=b State=DRAIN"),
        ("DownNodes=n[1-2] State=DRAIN", "NodeName=n[1-2] State=DRAIN"),
    ],
)  # fmt: skip
def test_whatever_else_is_set_is_named(tmp_path, line, told):
    (said,) = slurm_seed(_written(tmp_path, "slurm.conf", USUAL + line)).without
    assert said.partition(": ")[0] == told


def test_nodes_that_are_out_are_not_counted(tmp_path):
    text = """\
NodeName=n[1-4] CPUs=2
NodeName=n[5-6] CPUs=2 State=DOWN
DownNodes=n4 State=FAIL
PartitionName=a Nodes=n[3-6]
PartitionName=b Nodes=n[5-6]
"""
    seed = slurm_seed(_written(tmp_path, "slurm.conf", text))
    assert seed.processors == 6
    assert [(queue["name"], queue["slots"]) for queue in seed.site["queue"]] == [("a", 2)]
    told = [line.partition(": ")[0] for line in seed.without]
    assert [one for one in told if one.startswith("NodeName=")] == [
        "NodeName=n[5-6] State=DOWN", "NodeName=n4 State=FAIL",
    ]  # fmt: skip
    assert "PartitionName=b Nodes" in told


@pytest.mark.parametrize("others", [(), ("long",)])
def test_limits_of_a_qos_hold_for_all_jobs_only_where_there_is_no_other(tmp_path, others):
    conf = _written(tmp_path, "slurm.conf", "SchedulerType=sched/backfill\n")
    rows = [qos_row(name="normal", maxjobspu=40), *(qos_row(name=name) for name in others)]
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)))
    assert seed.site == ({} if others else {"quota.user_running": 40.0})
    assert not unstated(seed.without, *([["QOS normal", "maxjobspu=40"]] if others else []))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("NodeName=n[0-9999][0-9999],a", "n[0-9999][0-9999]: more than 1,000,000 hosts"),
        ("NodeName=n[1-999999999]", "n[1-999999999]: more than 1,000,000 hosts"),
        (f"NodeName=n[1-{'9' * 5000}]", f"[1-{'9' * 38}]: no range of hosts"),
        ("NodeName=n[4-1]", "[4-1]: no range of hosts"),
        ("NodeName=n[1-4", "n[1-4: "),
        ("NodeName=n]1-4[", "n]1-4[: "),
        (f"NodeName={'[' * 200_000}", f": {'[' * 40}: "),
        ("NodeName=n1 CPUs=-5", "NodeName=n1: CPUs=-5: "),
        ("NodeName=n1\nPartitionName=a Nodes=n1 PriorityTier=nan", "PartitionName=a: PriorityTier=nan: "),
        (f"NodeName=n1\nPartitionName=a Nodes=n1 MaxTime={'9' * 5000}", "PartitionName=a: MaxTime=9999"),
    ],
)
def test_nodes_that_no_site_has_are_refused(tmp_path, line, told):
    conf = _written(tmp_path, "slurm.conf", f"SchedulerType=sched/backfill\n{line}\n")
    with pytest.raises(ScenarioError) as caught:
        slurm_seed(conf)
    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["all.q", "a=b", "a*"])
def test_a_partition_that_no_path_can_address_is_refused_by_its_name(tmp_path, name):
    conf = _written(tmp_path, "slurm.conf", f"NodeName=n[1-4]\nPartitionName={name} Nodes=ALL MaxTime=1-0\n")
    with pytest.raises(ScenarioError) as caught:
        slurm_seed(conf)
    assert str(caught.value).startswith(f"{conf}: PartitionName={name}: name: '{name}': ")
    assert not missing(str(caught.value), "rename", "copies")


def test_flags_of_a_qos_are_named(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "SchedulerType=sched/backfill\n")
    qos = _written(
        tmp_path, "qos", qos_row(name="normal", flags="DenyOnLimit,NoReserve", usagethres="0.000000")
    )
    assert list(slurm_seed(conf, qos).without) == ["QOS normal flags NoReserve"]


@pytest.mark.parametrize(
    ("weight", "factor", "said"),
    [("abc", "1.0", "PriorityWeightQOS=abc"), ("1", "abc", "QOS normal: usagefactor=abc")],
)
def test_what_is_no_number_is_said_wherever_it_is(tmp_path, weight, factor, said):
    conf = _written(tmp_path, "slurm.conf", f"PriorityWeightQOS={weight}\n")
    qos = _written(tmp_path, "qos", qos_row(name="normal", usagefactor=factor))
    with pytest.raises(ScenarioError, match=f"{said}: a number was expected"):
        slurm_seed(conf, qos)


@pytest.mark.parametrize("word", ["bf_max_job_test=inf", "bf_max_job_test=2.5", "bf_interval=x"])
def test_what_is_no_number_of_the_scheduler_is_refused(tmp_path, word):
    conf = _written(tmp_path, "slurm.conf", f"SchedulerParameters={word}\n")
    with pytest.raises(ScenarioError, match=f"{word}: a number was expected"):
        slurm_seed(conf)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SchedulerType=sched/builtin\n", {"reservations": 0}),
        ("SchedulerType=sched/backfill\n", {"interval": 30.0, "window": 86400.0, "queue_depth": 500}),
        ("PriorityType=priority/basic\nPriorityWeightAge=5\n", {"weight_age": 0.0}),
        ("PriorityFavorSmall=YES\nPriorityWeightJobSize=7\n", {"favour": "small", "weight_job_size": 7.0}),
        (
            "PriorityWeightFairshare=1\nPriorityFlags=NO_FAIR_TREE\nFairShareDampeningFactor=3\n",
            {"algorithm": "classic", "damping": 3.0},
        ),
        ("PriorityWeightFairshare=1\nPriorityDecayHalfLife=0\n", {"half_life": NO_DECAY}),
    ],
)
def test_policies_by_hand(tmp_path, text, expected):
    (tmp_path / "slurm.conf").write_text(text)
    policy = slurm_seed(tmp_path / "slurm.conf").policy
    assert {key: policy[key] for key in expected} == expected
    assert load("batch/replay").override({"site.cluster.policy": policy}).active.site[0].policy


def test_tiers_stay_tiers_and_job_factors_are_weighed(tmp_path):
    head = "PriorityType=priority/multifactor\nPriorityWeightPartition=50\nPriorityWeightAge=10\n"
    rows = (
        "PartitionName=DEFAULT Nodes=ALL", "PartitionName=a MaxTime=10 PriorityTier=9 PriorityJobFactor=2",
        "PartitionName=b MaxTime=20",
    )  # fmt: skip
    seed = slurm_seed(_written(tmp_path, "tiers", head + "\n".join(rows)))
    assert [queue["priority"] for queue in seed.site["queue"]] == [9.0, 1.0]
    assert "weight_queue" not in seed.policy
    assert any("the tiers decide" in line for line in seed.without)
    equal = slurm_seed(_written(tmp_path, "equal", head + "\n".join(rows).replace("PriorityTier=9 ", "")))
    assert [(queue["priority"], queue["factor"]) for queue in equal.site["queue"]] == [(1.0, 2.0), (1.0, 1.0)]
    assert equal.policy["weight_queue"] == 50.0
    replay = load("batch/replay").override({"site.cluster.queue": equal.site["queue"]})
    strict = slurm_changes(load("batch/replay"), replay.override({"site.cluster.policy": "fcfs"})).lines
    assert "PartitionName=a MaxTime=0-00:10:00 PriorityTier=1 PriorityJobFactor=2" in strict


def test_words_of_default_hold_for_what_follows_it(tmp_path):
    rows = (
        "NodeName=n[1-4] CPUs=2", "PartitionName=DEFAULT Nodes=n[1-2] PriorityTier=3 OverSubscribe=YES",
        "PartitionName=a PriorityTier=3 MaxTime=10", "PartitionName=b",
    )  # fmt: skip
    weight = "PriorityType=priority/multifactor\nPriorityWeightPartition=50\n"
    seed = slurm_seed(_written(tmp_path, "slurm.conf", weight + "\n".join(rows) + "\n"))
    assert seed.policy["weight_queue"] == 50.0  # the tiers are equal
    assert [queue["slots"] for queue in seed.site["queue"]] == [4, 4]
    assert any(not missing(line, "PartitionName=b", "with a") for line in seed.without)
    assert "PartitionName=a,b OverSubscribe=YES" in seed.without


def test_what_is_no_file_of_slurm_is_refused(tmp_path):
    for name, text in (("a", "hello world\n"), ("b", "PriorityWeightAge=much\n"), ("e", QOS)):
        (tmp_path / name).write_text(text)
        with pytest.raises(ScenarioError, match=f"{name}: "):
            slurm_seed(tmp_path / name)
    with pytest.raises(ScenarioError, match="cannot be read"):
        slurm_seed(tmp_path / "none")
    for other in ("nothing\n", "JobID|State\n1|COMPLETED\n"):
        with pytest.raises(ScenarioError, match="`sacctmgr -P show qos`"):
            slurm_seed(_written(tmp_path, "c", CONF), _written(tmp_path, "d", other))


def _written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.fixture
def as_slurm(files):
    """`batch/replay` with the settings of the files, and limits of users."""
    seed = slurm_seed(*files)
    limits = {"quota.user_running": 20.0, "quota.user_slots": 64.0}
    site = {f"site.cluster.{key}": value for key, value in (seed.site | limits).items()}
    return load("batch/replay").override({"site.cluster.policy": seed.policy} | site)


def test_lines_that_change(as_slurm):
    assert simulate(as_slurm).metrics["completed"].value > 0
    made = slurm_changes(load("batch/replay"), as_slurm)
    assert list(made.lines) == [
        "PriorityType=priority/multifactor", "PriorityWeightAge=100", "PriorityWeightFairshare=1000",
        "PriorityWeightJobSize=0", "PriorityWeightPartition=0",
        "PriorityMaxAge=3-00:00:00", "PriorityFavorSmall=NO", "PriorityDecayHalfLife=14-00:00:00",
        "# PriorityFlags: without NO_FAIR_TREE",
            f"{BACKFILL},bf_job_part_count_reserve=0",
        "PreemptType=preempt/qos", "PreemptMode=REQUEUE",
        "PartitionName=debug MaxTime=0-00:30:00 PriorityTier=10",
        "PartitionName=work MaxTime=1-00:00:00 PriorityTier=1",
    ]  # fmt: skip
    assert "modify qos normal set MaxJobsPerUser=20" in made.commands
    assert "modify qos express set MaxWall=0-01:00:00" in made.commands
    assert slurm_changes(as_slurm, as_slurm).text() == "# nothing changes\n"


def test_a_weight_that_changes_is_told_with_those_that_it_is_weighed_against(as_slurm):
    policy = "site.cluster.policy"
    made = slurm_changes(as_slurm, as_slurm.override({f"{policy}.weight_fairshare": 0.5}))
    assert list(made.lines) == [
        "PriorityType=priority/multifactor", "PriorityWeightAge=100000", "PriorityWeightFairshare=500",
            "PriorityWeightJobSize=0", "PriorityWeightPartition=0",
    ]  # fmt: skip
    assert not made.commands
    assert not unstated(
        made.without,
        ["limits of users", "all QOS"],
        ["limits of users", "processors"],
        ["express"],  # what the baseline has, too
        ["short jobs", "every QOS"],
        ["victims", "lowest level", "youngest", "PreemptParameters"],
    )
    assert "scale your other weights" in made.text()


@pytest.mark.parametrize(
    ("weight", "key"), [(0.0, "PriorityTier"), (50.0, "PriorityTier=1 PriorityJobFactor")]
)
def test_a_priority_of_a_queue_is_a_factor_where_it_is_weighed_and_a_tier_elsewhere(as_slurm, weight, key):
    weighed = as_slurm.override({"site.cluster.policy.weight_queue": weight})
    made = slurm_changes(weighed, weighed.override({"site.cluster.queue.work.priority": 4.0}))
    assert made.lines == [f"PartitionName=work MaxTime=1-00:00:00 {key}=4"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"policy.rule": "sjf"}, ["rule = sjf", "site_factor"]),
        ({"policy.max_wait": 604800.0}, ["site.cluster.policy.max_wait = 604800.0"]),
        ({"quota.group_running": 5}, ["site.cluster.quota.group_running = 5.0"]),
        ({"policy.weight_shortness": 3.0}, ["weight_shortness = 3", "site_factor"]),
        ({"nodes": 90}, ["site.cluster.nodes"]),
        ({"quota.user_share": 0.5}, ["user_share", "never starts"]),
        ({"quota.user_slots": 20}, ["limits of users' processors", "wait"]),
    ],
)
def test_changes_without_counterpart_are_named(as_slurm, values, said):
    changed = as_slurm.override({f"site.cluster.{key}": value for key, value in values.items()})
    made = slurm_changes(as_slurm, changed)
    (line,) = [line for line in made.without if not missing(line, *said)]
    assert f"# no counterpart: {line}\n" in made.text()


@pytest.mark.long
def test_the_baseline_is_that_of_the_file(files, tmp_path):
    """A log that the file's own settings made is explained by them."""
    conf, qos = files
    conf.write_text("\n".join(line for line in CONF.splitlines() if "Preempt" not in line))
    qos.write_text(qos_row(name="normal", maxtrespu="cpu=64", maxjobspu=20) + "\n")
    log = _log_of(slurm_seed(conf, qos), tmp_path)
    out = tmp_path / "mine.toml"
    result = gridtune("calibrate", log, "--slurm", conf, "--qos", qos, "--out", out)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].endswith("5 weeks, 120 processors")
    assert "  SchedulerParameters bf_continue" in lines
    assert len(lines) <= 32
    made = load(str(out)).active.site[0]
    assert (made.policy.algorithm, made.policy.weight_fairshare, made.size) == ("fair-tree", 1000.0, 120)
    assert [queue.name for queue in made.queue] == ["debug", "work"]
    assert made.quota.user_running == 20.0
    assert "--slurm FILE, too" in refused("calibrate", log, "--qos", qos)


def _sacct(path, jobs):
    """Accounting of jobs (submit and start in s, run time, processors, QOS), which begins on a Monday."""

    def moment(seconds):
        return datetime.fromtimestamp(1_736_121_600 + round(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S")

    lines = ["JobID|Submit|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|Account|Partition|QOS"]
    for k, (submit, start, run, width, qos) in enumerate(jobs, 1):
        times = "|".join(map(moment, (submit, start, start + run)))
        lines.append(f"{k}|{times}|{width}|{width}|{run // 30}|COMPLETED|u{k % 9}|a|work|{qos}")
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.long
def test_a_log_of_a_site_that_preempts_by_qos_is_explained_by_its_files(tmp_path):
    draws = Random(2)
    jobs, now = [], 0
    while now < 4.5 * 7 * 86400:
        now += round(draws.expovariate(1 / 3000))
        qos = draws.choices(("normal", "high", "idle"), (6, 2, 2))[0]
        jobs.append(
            (now, now, 60 * round(draws.lognormvariate(4.9, 1.0)) + 60, draws.choice((1, 2, 4, 8)), qos)
        )
    log = tmp_path / "log.txt"
    _sacct(log, jobs)
    conf = "PriorityWeightAge=10\nPriorityWeightQOS=100\nPreemptType=preempt/qos\nNodeName=n[1-4] CPUs=4\n"
    conf = _written(tmp_path, "slurm.conf", f"{conf}PartitionName=work Nodes=ALL\n")
    rows = [
        qos_row(name="idle"), qos_row(name="normal", priority=10, preempt="idle"),
        qos_row(name="high", priority=40, preempt="normal,idle"),
    ]  # fmt: skip
    qos = _written(tmp_path, "qos.txt", "\n".join(rows))
    seed = slurm_seed(conf, qos, qos_of([str(log)]))
    assert seed.without == [ORDER]
    site = {f"site.cluster.{key}": value for key, value in seed.site.items()}
    values = {"workload.trace": str(log), "site.cluster.nodes": seed.processors}
    run = simulate(load("batch/replay").override({"site.cluster.policy": seed.policy} | site | values))
    assert run.metrics["preemptions"].value > 50
    waits = [job.start - job.submit for job in run.record.jobs]
    _sacct(log, [(job[0], job[0] + wait, *job[2:]) for job, wait in zip(jobs, waits, strict=True)])
    out = tmp_path / "mine.toml"
    result = gridtune("calibrate", log, "--slurm", conf, "--qos", qos, "--out", out, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["skill"] > 0.9999, "every job starts when it did"
    made = load(str(out)).active.site[0]
    assert made.preemption.qos == {"idle": 0.0, "normal": 1.0, "high": 2.0}
    assert (made.policy.weight_qos, made.policy.qos) == (100.0, {"idle": 0.0, "normal": 10.0, "high": 40.0})


def _log_of(seed, folder):
    import random

    draws = random.Random(1)
    rows, now = [], 0.0
    while now < 4.5 * 7 * 86400:
        now += draws.expovariate(1 / 4000)
        runtime = round(draws.lognormvariate(9.0, 1.0)) + 1
        rows.append([round(now), -1, min(runtime, 40_000), draws.choice([1, 8, 16, 40]), draws.randrange(6)])

    def write(name, header=""):
        lines = [
            f"{k} {submit} {wait} {run} {width} -1 -1 {width} {2 * run} -1 1 {user} 1 -1 1 -1 -1 -1"
            for k, (submit, wait, run, width, user) in enumerate(rows, 1)
        ]
        return _written(folder, name, header + "\n".join(lines) + "\n")

    site = {f"site.cluster.{key}": value for key, value in seed.site.items()}
    values = {"workload.trace": str(write("bare.swf")), "site.cluster.nodes": seed.processors}
    run = simulate(load("batch/replay").override({"site.cluster.policy": seed.policy} | site | values))
    for row, job in zip(rows, run.record.jobs, strict=True):
        row[1] = int(job.start - job.submit)
    return write("log.swf")


BACKFILL = "SchedulerParameters=bf_interval=60,bf_window=2880,bf_max_job_test=1000"
PARTITIONS = """\
SchedulerType=sched/backfill
PreemptType=preempt/qos
NodeName=n[1-4] CPUs=1
NodeName=g[1-2] CPUs=1
PartitionName=work Nodes=n[1-4]
PartitionName=gpu Nodes=g[1-2]
"""


@pytest.mark.parametrize(
    ("mode", "planned"), [("PreemptMode=REQUEUE", True), ("PreemptMode=SUSPEND,GANG", False)]
)
def test_jobs_of_a_partition_are_planned_unless_others_suspend_them(tmp_path, mode, planned):
    conf = _written(tmp_path, "slurm.conf", f"{PARTITIONS}{mode}\n")
    levels = (qos_row(name="normal"), qos_row(name="high", preempt="normal", maxwall="01:00:00"))
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(levels)))
    assert [queue.get("partition", False) for queue in seed.site["queue"]] == [planned, planned]
    said = any(line.startswith("backfilling within a partition") for line in seed.without)
    assert said is not planned
    site = {f"site.cluster.{key}": value for key, value in seed.site.items()}
    load("batch/replay").override({"site.cluster.nodes": 6} | site)


def test_files_as_they_are_written_by_hand(tmp_path):
    text = """\
PartitionName = a Nodes=both,n[3-4] MaxTime = 60
PartitionName=b Nodes=n[4-5]
PartitionName=c Nodes=nowhere
NodeSet=both Nodes=n[1-2]
NodeName=DEFAULT Sockets=2 CoresPerSocket=4
NodeName=n[1-6] ThreadsPerCore=2
NodeName=later[1-9] CPUs=8 State=FUTURE
SchedulerType = sched/backfill
"""
    seed = slurm_seed(_written(tmp_path, "slurm.conf", text))
    assert seed.processors == 6 * 16
    told = {queue["name"]: (queue.get("slots"), queue.get("max_runtime")) for queue in seed.site["queue"]}
    assert told == {"a": (64, 3600.0), "b": (32, None), "c": (None, None)}
    named = [line for line in seed.without if line.startswith("PartitionName=")]
    assert not unstated(named, ["PartitionName=b", "with a"], ["PartitionName=c", "Nodes=nowhere"])


@pytest.mark.parametrize(
    ("conf", "victim", "mode"),
    [
        ("PreemptMode=GANG,SUSPEND", "cluster", "suspend"),
        ("PreemptMode=CANCEL", "cluster", "cancel"),
        ("PreemptMode=SUSPEND,GANG", "requeue", "requeue"),
        ("", "", "requeue"),
    ],
)
def test_how_jobs_make_way_is_said_by_the_qos_that_is_preempted(tmp_path, conf, victim, mode):
    levels = (
        qos_row(name="normal", preemptmode=victim, preemptexempttime="01:00:00"),
        qos_row(name="high", preempt="normal", preemptmode="cancel", gracetime="00:10:00", maxwall="60"),
    )
    path = _written(tmp_path, "slurm.conf", f"PreemptType=preempt/qos\n{conf}\n")
    site = slurm_seed(path, _written(tmp_path, "qos", "\n".join(levels))).site
    told = {key.partition(".")[2]: value for key, value in site.items() if key.startswith("preemption")}
    assert told == {"express": 3600.0, "mode": mode, "exempt": 3600.0}


def test_a_qos_preempts_only_where_jobs_of_the_log_have_it(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n")
    levels = [qos_row(name=name, preempt="normal", maxwall=wall) for name, wall in (("a", "60"), ("b", "90"))]
    qos = _written(tmp_path, "qos", "\n".join([qos_row(name="normal"), *levels]))
    assert slurm_seed(conf, qos).site["preemption.express"] == 3600.0
    assert not slurm_seed(conf, qos, ("b",)).site, "nobody is there whom it preempts"
    named = slurm_seed(conf, qos, ("b", "normal"))
    assert named.site == {"preemption.qos": {"normal": 0.0, "b": 1.0}, "preemption.mode": "requeue"}
    assert "QOS a maxwall=60" in named.without
    assert not [line for line in named.without if line.startswith(("QOS b", "PreemptType"))]
    seed = slurm_seed(conf, qos, {"normal"})
    assert not seed.site
    assert "QOS a preempt=normal" in seed.without
    assert any(line.startswith("PreemptType=preempt/qos") for line in seed.without)
    rows = ["JobID|Submit|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|QOS"]
    rows += [f"{k}|{k}|{k + 9}|{k + 99}|1|1|9|COMPLETED|u|{'normal' if k % 2 else ''}" for k in range(1, 9)]
    used = qos_of([str(_written(tmp_path, "log.txt", "\n".join(rows)))])
    assert used == {"normal", ""}
    said = slurm_seed(conf, qos, used | {"ghost"}).without
    assert any(not missing(line, "without a QOS", "lowest level") for line in said)
    assert any(not missing(line, "QOS ghost", "lowest level") for line in said)
    assert slurm_seed(conf, qos, {""}) == slurm_seed(conf, qos), "as if the log had no such column"


def test_a_qos_is_above_all_that_it_preempts(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "PreemptType=preempt/qos\n")
    rows = [
        qos_row(name="vip", preempt="high"), qos_row(name="high", preempt="normal", preemptmode="suspend"),
        qos_row(name="normal", preemptmode="cancel", gracetime="00:01:00"), qos_row(name="idle"),
    ]  # fmt: skip
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)), {"vip", "high", "normal", "idle"})
    assert seed.site["preemption.qos"] == {"vip": 2.0, "high": 1.0, "normal": 0.0, "idle": 0.0}
    assert any(not missing(line, "QOS vip preempt=high", "normal,idle") for line in seed.without)
    assert any(not missing(line, "QOS high preempt=normal", "idle") for line in seed.without)
    told = {"preemption.mode": "suspend"}
    assert {key: value for key, value in seed.site.items() if key != "preemption.qos"} == told
    others = "QOS normal", "high", "mode", "gracetime", "preemptexempttime"
    assert any(not missing(line, *others) for line in seed.without)
    circle = [
        qos_row(name="a", preempt="a,b"),
        qos_row(name="b", preempt="a"),
        qos_row(name="c", preempt="c"),
    ]
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(circle)), {"a", "b", "c"})
    assert seed.site["preemption.qos"]["c"] == 0.0, "nobody preempts jobs of its own QOS"
    assert any(not missing(line, "QOS a preempt=a,b", "not b") for line in seed.without)


@pytest.mark.parametrize(
    ("word", "own", "spared", "said"),
    [
        ("REQUEUE", "", False, None),
        ("REQUEUE", "off", True, None),
        ("OFF", "", True, None),
        ("OFF", "cluster", True, None),
        ("OFF", "requeue", False, None),
        ("REQUEUE,WITHIN", "", False, "PreemptMode=REQUEUE,WITHIN: within"),
        ("REQUEUE", "within,cancel", False, "QOS low preemptmode=within,cancel: within"),
    ],
)
def test_words_of_preempt_mode(tmp_path, word, own, spared, said):
    conf = _written(tmp_path, "slurm.conf", f"PreemptType=preempt/qos\nPreemptMode={word}\n")
    rows = [qos_row(name="low", preemptmode=own), qos_row(name="high", preempt="low")]
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)), {"low", "high"})
    assert (not seed.site) is spared
    assert said is None or said in seed.without


@pytest.mark.parametrize(
    "line", ["PreemptParameters=youngest_first", "SchedulerParameters=preempt_youngest_first"]
)
def test_the_order_of_victims_is_named_unless_it_is_that_of_slurm(tmp_path, line):
    rows = [qos_row(name="low"), qos_row(name="high", preempt="low")]
    qos = _written(tmp_path, "qos", "\n".join(rows))
    for text, said in (("", [ORDER]), (line, [])):
        conf = _written(tmp_path, "slurm.conf", f"PreemptType=preempt/qos\n{text}\n")
        assert list(slurm_seed(conf, qos, {"low", "high"}).without) == said


def test_a_victim_that_no_job_has_does_not_say_how_others_make_way(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n")
    rows = [
        qos_row(name="scav", preemptmode="cancel", gracetime="00:05:00"), qos_row(name="idle"),
        qos_row(name="high", preempt="scav,idle"),
    ]  # fmt: skip
    qos = _written(tmp_path, "qos", "\n".join(rows))
    site = slurm_seed(conf, qos, {"idle", "high"}).site
    assert site == {"preemption.qos": {"idle": 0.0, "high": 1.0}, "preemption.mode": "requeue"}


def test_a_dot_in_the_name_of_a_qos_costs_it_its_priority_and_is_said(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "PriorityWeightQOS=100\n")
    rows = [qos_row(name="a.b", priority=50), qos_row(name="low", priority=5)]
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)), {"a.b", "low"})
    assert seed.policy["qos"] == {"low": 5.0, HIGHEST: 50.0}
    assert not unstated(seed.without, ["QOS a.b", "priority=50", "dot"])


@pytest.mark.parametrize(
    ("used", "qos"),
    [
        ((), None),
        (("low",), None),
        (("normal", "low"), {"low": 0.0, "normal": 10.0, HIGHEST: 50.0}),
        (("top",), {"top": 50.0}),
    ],
)
def test_priorities_of_qos_are_weighed_where_the_log_names_them(tmp_path, used, qos):
    conf = _written(tmp_path, "slurm.conf", "PriorityWeightAge=10\nPriorityWeightQOS=2000\n")
    rows = [
        qos_row(name="low"), qos_row(name="normal", priority=10), qos_row(name="top", priority=50)
    ]  # fmt: skip
    policy = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)), used).policy
    assert policy.get("qos") == qos
    assert policy.get("weight_qos") == (None if qos is None else 1000.0)
    assert policy["weight_age"] == (10.0 if qos is None else 5.0)


def test_what_a_qos_preempts_is_set_by_its_name():
    place = "site.cluster"
    replay = load("batch/replay")
    levels = {"normal": 0.0, "idle": 0.0, "high": 1.0}
    named = replay.override({f"{place}.preemption": {"qos": levels, "grace": 60.0}})
    assert list(slurm_changes(replay, named).commands) == [
        *(f"modify qos {name} set {what}" for name in ("normal", "idle")
          for what in ("GraceTime=60", "PreemptMode=requeue")),
        "modify qos high set Preempt+=normal,idle",
    ]  # fmt: skip
    short = named.override({f"{place}.preemption.express": 600.0})
    told = slurm_changes(named, short).commands
    assert "modify qos express set Preempt+=normal,idle" in told
    assert any(line.startswith("short jobs of each QOS") for line in slurm_changes(named, short).without)
    off = "modify qos <the QOS that preempts> set Preempt-=normal,idle"
    assert off in slurm_changes(short, named).commands
    weighed = {"kind": "priority", "weight_qos": 5.0, "qos": {"high": 10.0}}
    made = slurm_changes(replay, replay.override({f"{place}.policy": weighed}))
    assert "PriorityWeightQOS=5" in made.lines
    assert "modify qos high set Priority=10" in made.commands
    assert not [line for line in made.without if "policy.qos" in line]
    idle = slurm_changes(replay, replay.override({f"{place}.policy": weighed | {"weight_qos": 0.0}}))
    assert not [line for line in idle.commands if "Priority" in line]
    before, after = (
        replay.override({f"{place}.policy": weighed | {"qos": table}})
        for table in ({"high": 10.0, "low": 2.0, HIGHEST: 90.0}, {"high": 10.4, HIGHEST: 80.0})
    )
    made = slurm_changes(before, after)
    assert list(made.commands) == ["modify qos low set Priority=0"]
    assert not slurm_changes(before, replay).commands, "priorities that nobody weighs are let be"
    assert any(not missing(line, "QOS high", "10.4", "rounded") for line in made.without)


LEVELS = {"idle": 0.0, "normal": 1.0, "my qos": 2.0}


@pytest.mark.parametrize(
    ("levels", "lists"),
    [
        ({"normal": 0.0}, ["normal set Preempt-=idle"]),
        ({"normal": 2.0}, ["'my qos' set Preempt-=normal"]),
        (
            {"idle": 3.0},
            ["'my qos' set Preempt-=idle", "idle set Preempt+=normal,'my qos'", "normal set Preempt-=idle"],
        ),
        ({"my qos": 0.5}, ["normal set Preempt+='my qos'", "'my qos' set Preempt-=normal"]),
    ],
)  # fmt: skip
def test_levels_that_change_add_to_the_lists_of_qos_or_take_from_them(levels, lists):
    place = "site.cluster.preemption"
    replay = load("batch/replay").override({place: {"qos": LEVELS}})
    made = slurm_changes(replay, replay.override({f"{place}.qos": LEVELS | levels})).commands
    found = [one.removeprefix("modify qos ") for one in made if "Preempt+=" in one or "Preempt-=" in one]
    assert sorted(found) == sorted(lists)


def test_commands_one_after_the_other_give_the_lists_that_the_last_table_means():
    draws, replay, place = Random(4), load("batch/replay"), "site.cluster.preemption"
    names = ("normal", "idle", "high", "my qos")
    for _ in range(40):
        tables = [
            {name: float(draws.randrange(4)) for name in draws.sample(names, draws.randrange(1, 5))}
            for _ in range(2)
        ]
        steps = [replay, *(replay.override({place: {"qos": table}}) for table in tables)]
        lists = {name: set() for name in names}
        for old, new in pairwise(steps):
            for command in slurm_changes(old, new).commands:
                _, _, name, _, what = shlex.split(command)
                lower = set(what[len("Preempt+=") :].split(","))
                if what.startswith("Preempt+="):
                    lists[name] |= lower
                elif what.startswith("Preempt-="):
                    assert lower <= lists[name], "only what is there is taken off"
                    lists[name] -= lower
        levels = {"normal": 0.0} | dict.fromkeys(tables[0], 0.0) | tables[1]
        assert lists == {
            name: {other for other in levels if levels[other] < levels.get(name, 0.0)} for name in names
        }, tables


def test_no_time_that_has_no_end_becomes_a_setting(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n")
    rows = [
        qos_row(name="low", gracetime="UNLIMITED"),
        qos_row(name="high", preempt="low", maxwall="UNLIMITED"),
    ]
    qos = _written(tmp_path, "qos", "\n".join(rows))
    assert not slurm_seed(conf, qos).site
    seed = slurm_seed(conf, qos, {"low", "high"})
    assert seed.site == {"preemption.qos": {"low": 0.0, "high": 1.0}, "preemption.mode": "requeue"}
    assert "QOS low gracetime=UNLIMITED" in seed.without
    rows = [*(qos_row(name=name, gracetime="00:01:00") for name in "ab"), qos_row(name="high", preempt="a,b")]
    conf = _written(tmp_path, "slurm.conf", "PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG\n")
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)), {"a", "b", "high"})
    assert "preemption.grace" not in seed.site, "nobody who is suspended has one"
    assert not [line for line in seed.without if "makes way" in line]


@pytest.mark.parametrize(("mode", "express"), [("OFF", None), ("REQUEUE", 3600.0)])
def test_a_qos_may_preempt_one_that_is_not_listed_unless_nobody_makes_way(tmp_path, mode, express):
    qos = _written(tmp_path, "qos", qos_row(name="high", preempt="normal", maxwall="60"))
    conf = _written(tmp_path, "slurm.conf", f"PreemptType=preempt/qos\nPreemptMode={mode}\n")
    assert slurm_seed(conf, qos).site.get("preemption.express") == express


def test_who_preempts_nobody_in_slurm_has_no_line(tmp_path):
    rows = [qos_row(name="low", preemptmode="off"), qos_row(name="high", preempt="low, low")]
    qos = _written(tmp_path, "qos", "\n".join(rows))
    for line in ("PreemptType=preempt/none", "PreemptType=preempt/qos\nPreemptMode=REQUEUE"):
        conf = _written(tmp_path, "slurm.conf", f"{line}\nPriorityType=priority/basic\nPriorityWeightQOS=9\n")
        seed = slurm_seed(conf, qos, {"low", "high"})
        assert not seed.site
        assert not [one for one in seed.without if "preempt=" in one or "WeightQOS" in one]


def test_short_jobs_preempt_every_qos_that_the_policy_knows():
    weighed = {"kind": "priority", "weight_qos": 1.0, "qos": {"high": 9.0, "low": 2.0}}
    replay = load("batch/replay").override({"site.cluster.policy": weighed})
    made = slurm_changes(replay, replay.override({"site.cluster.preemption.express": 900.0})).commands
    assert "modify qos express set Preempt+=normal,high,low" in made
    assert {f"modify qos {name} set PreemptMode=requeue" for name in ("normal", "high", "low")} <= {*made}


def test_an_existing_qos_keeps_its_name_and_a_new_one_has_the_limits_of_others():
    place = "site.cluster"
    replay = load("batch/replay").override({f"{place}.preemption": {"qos": {"normal": 0.0, "express": 1.0}}})
    short = {f"{place}.preemption.express": 600.0, f"{place}.quota.user_running": 9}
    commands = slurm_changes(replay, replay.override(short)).commands
    assert commands[0] == "add qos express-jobs"
    assert "modify qos express-jobs set MaxJobsPerUser=9" in commands
    assert "modify qos express-jobs set MaxWall=0-00:10:00" in commands
    assert not [one for one in commands if "express-jobs set MaxTRES" in one]


def test_no_level_is_no_preemption_and_limits_are_those_of_each_qos():
    place = "site.cluster"
    replay = load("batch/replay").override({f"{place}.preemption": {"qos": LEVELS}})
    flat = replay.override({f"{place}.preemption.qos": dict.fromkeys(LEVELS, 0.0)})
    assert "PreemptType=preempt/none" in slurm_changes(replay, flat).lines
    limited = slurm_changes(replay, replay.override({f"{place}.quota.user_running": 8}))
    assert sorted(limited.commands) == [
        f"modify qos {name} set MaxJobsPerUser=8" for name in ("'my qos'", "idle", "normal")
    ]
    assert any(not missing(line, "limits of users", "all QOS") for line in limited.without)


def test_limits_of_qos_that_nobody_takes_over_are_named(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "SchedulerType=sched/backfill\n")
    rows = qos_row(name="normal", maxtrespu="cpu=16,gres/gpu=2", grpwall="1-0", usagefactor="2.0")
    seed = slurm_seed(conf, _written(tmp_path, "qos", rows))
    assert seed.site == {"quota.user_slots": 16.0}
    assert sorted(seed.without) == [
        "QOS normal grpwall=1-0", "QOS normal maxtrespu gres/gpu=2", "QOS normal usagefactor=2.0",
    ]  # fmt: skip


@pytest.mark.long
def test_preemption_of_a_file_and_limits_that_the_log_denies(files, tmp_path):
    conf, qos = files
    conf.write_text(CONF.replace("PriorityTier=10 MaxNodes=1", "PriorityTier=10"))
    qos.write_text(qos_row(name="urgent", preempt="normal", maxwall="01:00:00", maxtrespu="cpu=2"))
    bare = _written(tmp_path, "bare.conf", "\n".join(x for x in CONF.splitlines() if "Preempt" not in x))
    log, out = _log_of(slurm_seed(bare), tmp_path), tmp_path / "mine.toml"
    result = gridtune("calibrate", log, "--slurm", conf, "--qos", qos, "--out", out)
    assert result.returncode == 0, result.stderr
    words = " ".join(result.stdout.split())
    assert not missing(words, "site.cluster.quota.user_slots 2", "6 users")
    found = load(str(out))
    site, space = found.active.site[0], found.spec.search.space
    assert (site.preemption.express, site.quota.user_slots) == (3600.0, "none")
    assert [queue.partition for queue in site.queue] == [True, False]
    told = {path.removeprefix("site.cluster."): one for path, one in space.items()}
    assert not told.keys() & {"preemption.mode", "policy.max_wait", "quota.user_share"}
    assert "multifactor" in told["policy.rule"].choices
    assert "f2" not in told["policy.rule"].choices


def test_what_slurm_cannot_have_is_told_before_the_lines_and_nothing_is_made_up(as_slurm):
    policy = "site.cluster.policy"
    deep = {f"{policy}.interval": 0.0, f"{policy}.queue_depth": 0}
    text = slurm_changes(as_slurm, as_slurm.override(deep)).text()
    first, *rest = text.splitlines()
    assert "no counterpart" in first
    assert "SchedulerParameters=bf_window=2880,bf_job_part_count_reserve=0" in rest
    assert sum("interval = 0" in line or "queue_depth = 0" in line for line in rest) == 2
    assert "bf_resolution" in text
    assert (
        "bf_resolution"
        not in slurm_changes(as_slurm, as_slurm.override({f"{policy}.window": 86400.0})).text()
    )
    others = slurm_changes(load("batch/replay"), as_slurm.override({f"{policy}.rule": "f2"}))
    assert not [line for line in others.lines if line.startswith("Priority")]


def test_preemption_as_slurm_has_it(as_slurm):
    place = "site.cluster.preemption"
    off = as_slurm.override({f"{place}.express": 0.0, f"{place}.grace": 0.0})
    assert "modify qos <the QOS that preempts> set Preempt-=normal" in slurm_changes(as_slurm, off).commands
    longer = slurm_changes(as_slurm, as_slurm.override({f"{place}.express": 7200.0, f"{place}.grace": 0.0}))
    assert [one.replace("<the QOS that preempts>", "Q") for one in longer.commands] == [
        "modify qos Q set MaxWall=0-02:00:00",
        "modify qos normal set GraceTime=0",
    ]
    on_suspended = off.override({f"{place}.express": 60.0, f"{place}.mode": "suspend"})
    on = slurm_changes(off, on_suspended)
    assert "PreemptMode=SUSPEND,GANG" in on.lines
    assert any("express" in one for one in on.without)
    assert "OverSubscribe=FORCE:1" in on.text()
    back = slurm_changes(on_suspended, off)
    told = [any("mode = suspend" in one for one in made.without) for made in (on, back)]
    assert told == [True, False]


def test_so_many_reservations_as_slurm_has_for_each_partition(as_slurm, tmp_path):
    conf = _written(tmp_path, "slurm.conf", "SchedulerParameters=bf_job_part_count_reserve=5\n")
    assert slurm_seed(conf).policy["reservations"] == 5
    assert not slurm_seed(conf).without
    few = as_slurm.override({"site.cluster.policy.reservations": 4})
    made = slurm_changes(as_slurm, few)
    assert [line.rpartition(",")[2] for line in made.lines] == ["bf_job_part_count_reserve=4"]
    one_queue = slurm_changes(as_slurm, few.override({"site.cluster.queue": [{"name": "work"}]}))
    told = [any("reservations = 4" in line for line in one.without) for one in (made, one_queue)]
    assert told == [True, False]
    for policy, count in (("easy", 1), ("fair-share", 1), ("conservative", 0)):
        site = load("batch/replay").override({"site.cluster.policy": policy})
        (line,) = [one for one in slurm_changes(as_slurm, site).lines if one.startswith("Scheduler")]
        assert line == f"SchedulerParameters=bf_window=43200,bf_job_part_count_reserve={count}"


def test_what_a_policy_no_longer_weighs_is_set_to_0(as_slurm):
    place = "site.cluster.policy"
    weighed = as_slurm.override({f"{place}.weight_qos": 7.0, f"{place}.qos": {"urgent": 1.0}})
    for after in (
        weighed.override({f"{place}.weight_qos": 0.0}),
        load("batch/replay").override({place: "fair-share"}),
    ):
        lines = slurm_changes(weighed, after).lines
        assert "PriorityWeightQOS=0" in lines
        assert "PriorityWeightJobSize=0" in lines


def test_how_jobs_make_way_is_set_for_the_qos_that_is_preempted(as_slurm):
    place = "site.cluster.preemption"
    made = slurm_changes(as_slurm, as_slurm.override({f"{place}.mode": "cancel", f"{place}.exempt": 60.0}))
    assert made.lines == ["PreemptMode=CANCEL", "PreemptExemptTime=0-00:01:00"]
    assert made.commands == [
        f"modify qos normal set {what}" for what in ("PreemptMode=cancel", "PreemptExemptTime=0-00:01:00")
    ]
    first = slurm_changes(load("batch/replay"), as_slurm)
    assert "modify qos express set Preempt+=normal" in first.commands
    assert any(not missing(x, "#", "AccountingStorageEnforce=limits,qos") for x in first.text().splitlines())
    assert "AccountingStorageEnforce" not in made.text()
    exempt = as_slurm.override({f"{place}.exempt": 60.0})
    assert slurm_changes(exempt, as_slurm).lines == ["PreemptExemptTime=-1"]


@pytest.mark.parametrize(
    ("values", "line", "said"),
    [
        ({"by": "user"}, None, ["by = user", "accounts"]),
        ({"half_life": 5e11}, "PriorityDecayHalfLife=0", ["half_life", "PriorityUsageResetPeriod"]),
        ({"algorithm": "classic", "damping": 1.4}, "FairShareDampeningFactor=1", ["damping = 1.4", "whole"]),
        ({"interval": 20_000.0}, "SchedulerParameters=bf_interval=10800", None),
    ],
)
def test_what_slurm_refuses_or_does_otherwise(as_slurm, values, line, said):
    policy = {f"site.cluster.policy.{name}": value for name, value in values.items()}
    made = slurm_changes(as_slurm, as_slurm.override(policy))
    assert line is None or any(one.startswith(line) for one in made.lines)
    assert said is None or any(not missing(one, *said) for one in made.without)


def test_backfill_that_is_off_and_a_second_qos_that_preempts(tmp_path):
    conf = _written(tmp_path, "slurm.conf", "SchedulerParameters=bf_interval=-1\nPreemptType=preempt/qos\n")
    rows = [qos_row(name="normal"), qos_row(name="high", preempt="normal", maxwall="60")]
    rows.append(qos_row(name="vip", preempt="normal,high"))
    seed = slurm_seed(conf, _written(tmp_path, "qos", "\n".join(rows)))
    assert seed.policy["reservations"] == 0
    assert "QOS vip preempt=normal,high" in seed.without
