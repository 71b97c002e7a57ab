"""100,000 random jobs on sites whose nodes come and go, with preemption, against the slow reference.

    python -m tests.benchmarks.site_conformance [JOBS]

It prints a row for each kind of site: jobs, starts that differ, s. Two minutes of CPU time; it ends with
status 1 if anything differs.
"""

import sys
import time

from tests.site_conformance import KINDS_OF_SITES, differing_starts

EACH = 40  # jobs of a site


def main(jobs=100_000):
    """The table, printed as it is made; whether nothing differs."""
    sites = -(-jobs // (EACH * len(KINDS_OF_SITES)))
    wrong = 0
    print(f"{'site':8} {'jobs':>7} {'differ':>7} {'s':>6}")
    for kind in KINDS_OF_SITES:
        began = time.process_time()
        differ = sum(differing_starts(kind, EACH, seed) for seed in range(sites))
        wrong += differ
        print(f"{kind:8} {sites * EACH:7} {differ:7} {time.process_time() - began:6.1f}", flush=True)
    return wrong == 0


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
