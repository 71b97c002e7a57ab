"""100,000 random jobs in 20 configurations of batch policies against the slow reference of the tests.

    python -m tests.benchmarks.conformance [JOBS [JOBS_OF_A_LOG]]

It prints a row for each configuration: jobs, starts that differ, s; then promises of the head that were
made and broken. Half a minute of CPU time; it ends with status 1 if anything differs.
"""

import sys
import time

from tests.conformance import CONFIGURATIONS, broken_promises, differing_starts


def main(jobs=100_000, log=200):
    """The table, printed as it is made; whether nothing differs."""
    each = jobs // len(CONFIGURATIONS)
    wrong = 0
    print(f"{'configuration':60} {'jobs':>7} {'differ':>7} {'s':>6}")
    for configuration in CONFIGURATIONS:
        began = time.process_time()
        logs = [min(log, each - begin) for begin in range(0, each, log)]
        differ = sum(differing_starts(configuration, count, seed) for seed, count in enumerate(logs, 1))
        wrong += differ
        took = time.process_time() - began
        print(f"{configuration[0]:60} {sum(logs):7} {differ:7} {took:6.1f}", flush=True)
    for policy in ("easy", "conservative"):
        results = [broken_promises(policy, log, seed) for seed in range(each // log)]
        broken, made = map(sum, zip(*results, strict=True))
        wrong += broken
        print(f"{policy}: {made} promises to the job that waits first, {broken} broken", flush=True)
    return wrong == 0


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
