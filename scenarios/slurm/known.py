"""Which words of Slurm's files decide who starts when: all but those known not to.

Source: slurm.conf(5), sacctmgr(1), the list of options in Slurm's read_config.c.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

# Slurm's defaults of what is read of SchedulerParameters.
BACKFILL = {
    "bf_interval": "30", "bf_window": "1440", "bf_max_job_test": "500", "bf_job_part_count_reserve": "0",
}  # fmt: skip
WEIGHTS = {
    "PriorityWeightAge": "weight_age",
    "PriorityWeightFairshare": "weight_fairshare",
    "PriorityWeightJobSize": "weight_job_size",
    "PriorityWeightPartition": "weight_queue",
    "PriorityWeightQOS": "weight_qos",
}
NOTHING = {"", "0", "NO", "NONE", "OFF", "(NULL)"}  # values that ask for nothing


@dataclass(frozen=True)
class Words:
    """Words of one kind of line.

    Attributes:
        read: what a site takes over, or what is named for a reason of its own.
        aside: how words begin that do not decide who starts when.
        usual: values, in capitals, that change nothing; beside those of `NOTHING`.
    """

    read: Collection[str]
    aside: tuple[str, ...]
    usual: Mapping[str, Collection[str]] = field(default_factory=dict)

    def decides(self, word: str, value: str) -> bool:
        """Whether a word decides who starts when, and is not read.

        Args:
            word: in lower case.
            value: of it.
        """
        if word in self.read or word.startswith(self.aside):
            return False
        shout = value.upper()
        return not (shout in NOTHING or shout in self.usual.get(word, ()) or shout.endswith("/NONE"))


# Aside are paths, ports, logs, accounts, how nodes are reached, what runs beside a job, and memory: whether
# that is shared out, SelectTypeParameters says.
OPTIONS = Words(
    read={
        *map(str.lower, WEIGHTS), "prioritymaxage", "prioritydecayhalflife", "priorityfavorsmall",
        "priorityflags", "fairsharedampeningfactor", "schedulerparameters", "preempttype", "preemptmode",
        "preemptexempttime", "accountingstorageenforce",
    },
    aside=(
        "accountingstor", "acctgather", "auth", "backup", "batchstart", "bcast", "cachegroups",
        "cert", "checkpoint", "clustername", "communication", "control", "cpufreq", "cred", "crypto",
        "data", "debug", "def", "dependency", "disableroot", "eio", "epilog", "extsensors",
        "fastschedule", "federation", "firstjobid", "getenv", "gpufreq", "group", "hash",
        "healthcheck", "http", "inactive", "interactive", "jobacct", "jobcheckpoint", "jobcomp",
        "jobcontainer", "jobcred", "jobfile", "jobrequeue", "keepalive", "killonbadexit", "killwait",
        "launch", "log", "mail", "max", "memlimit", "message", "metrics", "minjobage", "mpi",
        "namespace", "plug", "power", "prep", "privatedata", "proctrack", "prolog", "propagate",
        "reboot", "reconfig", "requeueexit", "resumefail", "resumeprogram", "resumerate",
        "resvepilog", "resvprolog", "returntoservice", "route", "salloc", "sbcast", "schedulerport",
        "schedulerrootfilter", "scron", "slurm", "srun", "statesave", "suspendexc", "suspendprogram",
        "suspendrate", "switch", "task", "tcp", "tls", "tmpfs", "trackwckey", "treewidth",
        "unkillable", "url", "usepam", "vsize", "wait", "x11",
    ),
    usual={
        "preemptparameters": ("YOUNGEST_FIRST",),
        "prioritycalcperiod": ("5", "00:05:00"), "resumetimeout": ("60",),
        "prioritytype": ("PRIORITY/BASIC", "PRIORITY/MULTIFACTOR"), "schedulertimeslice": ("30",),
        "schedulertype": ("SCHED/BACKFILL", "SCHED/BUILTIN"), "selecttypeparameters": ("CR_CPU", "CR_CORE"),
        "selecttype": ("SELECT/CONS_RES", "SELECT/CONS_TRES"), "suspendtime": ("-1", "INFINITE"),
        "suspendtimeout": ("30",), "topologyplugin": ("TOPOLOGY/DEFAULT", "TOPOLOGY/FLAT"),
    },
)  # fmt: skip
_EVERYTHING = dict.fromkeys(("allowaccounts", "allowgroups", "allowqos"), ("ALL",))
_NO_END = dict.fromkeys(
    ("maxnodes", "maxcpuspernode", "maxcpuspersocket", "suspendtime"), ("UNLIMITED", "INFINITE", "-1")
)
PARTITIONS = Words(
    read={"partitionname", "nodes", "maxtime", "state", "prioritytier", "priorityjobfactor"},
    aside=("allocnodes", "alternate", "cpubind", "def", "disableroot", "hidden", "maxmem"),
    usual=_EVERYTHING | _NO_END | {"minnodes": ("1",)},
)
# Of generic resources GresTypes tells.
NODES = Words(
    read={"nodename", "boards", "cpus", "procs", "state"},
    aside=(
        "bcast", "corespersocket", "cpubind", "gres", "memspec", "node", "port", "realmemory", "reason",
        "sockets", "threads", "tmpdisk", "weight",
    ),
)  # fmt: skip
QOS = Words(
    read={
        "name", "priority", "gracetime", "preempt", "preemptexempttime", "preemptmode", "flags",
        "usagefactor", "maxwall", "maxtrespu", "maxjobspu",
    },
    aside=("description", "id"),
    usual={"usagethres": ("0.000000",)},
)  # fmt: skip
FLAGS = {"", "DENYONLIMIT", "NOTSET"}  # of a QOS that are simulated, or say nothing
EMPTY = ("DOWN", "DRAIN", "FAIL")  # how states begin of nodes on which nothing starts
