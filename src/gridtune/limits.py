"""What is too large to be meant: bounds of everything that a document, a trace or an option can ask for.

They are generous: what is allowed may still take hours or more memory than there is. What is refused names
its limit. Whoever needs more changes a number here.
"""

from __future__ import annotations

NUMBER = 1e18  # any quantity in a scenario: s, bytes, work
TINY = 1e-30  # the least of them above 0: quotients and squares stay finite
METRIC = 1e60  # a metric that has a standard error, or is searched for: its squares stay finite
WHOLE = 1_000_000_000  # a whole number in a scenario of which nothing else is said

# Whole numbers in a scenario, by the name of their key.
COUNTS = {
    "count": 10_000_000,
    "customers": 10_000_000,
    "nodes": 1_000_000,
    "slots": 100_000,
    "sites": 10_000,
    "servers": 100_000,
    "users": 1_000_000,
    "files": 1_000_000,
    "processors": 10_000_000,
    "length": 10_000_000,
    "n_min": 1_000_000,
    "n_max": 1_000_000,
    "n_submit": 10_000_000,
    "fan_out": 100_000,
    "routers": 10_000,
    "redundancy": 10_000,
    "population": 10_000_000,
    "replications": 100_000,
}
SITE_SLOTS = 1_000_000  # nodes times slots of one site
SERVERS = 100_000  # of one [[sed]] or [[server]]

DOCUMENT_BYTES = 20_000_000  # of a manifest
TABLE_ROWS = 20_000_000  # of a table of a run that is drawn
METRICS_BYTES = 500_000_000  # of the metrics of a run
TOML_BYTES = 4_000_000  # of a TOML document, which is read more slowly
KEYS = 100_000  # keys and elements of a document, at all depths
FAULTS = 1_000  # of a document that are told
DEPTH = 40  # tables inside tables
ELEMENTS = 2_000  # tables of one array, as [[site]]
NAME = 200  # characters of a name

TRACE_BYTES = 50_000_000_000  # of a trace, unpacked
TRACE_RATIO = 250  # unpacked over packed bytes, beyond the first
TRACE_FREE = 100_000_000  # bytes, which are never too many
LINE_BYTES = 1_000_000  # of a trace
COMMENTS = 200_000  # comments and blank lines of a trace
UNREADABLE = 100_000  # rows at the beginning of a trace that cannot be read
DIGITS = 18  # of a number in a trace

REPLICATIONS = 100_000
WORKERS = 1_000
SWEEP_CONFIGURATIONS = 1_000_000
BUDGET = 10_000_000  # configurations of a search
SAMPLES = 1_000_000  # of a sensitivity analysis
SEED = 2**64 - 1
SEARCH_SEED = 2**32 - 1  # which the samplers of other packages take
SPACE = 1_000  # parameters of a search
CHOICES = 10_000  # values that one of them may have

# What is allowed, but said before it starts.
LARGE_RUNS = 10_000  # runs of a command
LARGE_JOBS = 1_000_000  # jobs that a process holds in memory at once
JOB_BYTES = 900  # memory of a job, about
