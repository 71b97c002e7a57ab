"""A log of one's own in SWF: written here, replayed, and drawn as queues."""

import random
from pathlib import Path

import gridtune as gt

# Job, submit, wait, run time, processors, ..., requested processors and time, ..., user.
draw, clock, rows = random.Random(1), 0, ["; MaxProcs: 32"]
for number in range(1, 301):
    clock += round(draw.expovariate(1 / 300))
    runtime, processors = round(draw.lognormvariate(7, 1)), draw.choice([1, 2, 4, 8, 16])
    user, asked = draw.randint(1, 9), 2 * runtime
    rows.append(
        f"{number} {clock} 0 {runtime} {processors} -1 -1 {processors} {asked} -1 1 {user} 1 1 1 1 -1 -1"
    )
Path("mine.swf").write_text("\n".join(rows) + "\n")

mine = gt.load("batch/replay", {"workload.log.trace": "mine.swf", "site.cluster.nodes": 32})
result = mine.run()
print(f"{result['completed']:.0f} jobs, mean wait {result['waiting_mean'] / 60:.1f} min")
result.plot("queues", out="own_log.png")
