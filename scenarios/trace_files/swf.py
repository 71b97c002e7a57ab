"""The Standard Workload Format of the Parallel Workloads Archive.

Comment lines begin with `;`. A job is a line of 18 fields between blanks: number, submit time, wait, run
time, processors allocated, mean CPU time, used memory, processors requested, time requested, memory
requested, status, user, group, executable, queue, partition, preceding job, think time. Times are in
seconds, memory in kB per processor, -1 means unknown (Standard Workload Format 2.2). Some logs add fields.
"""

from __future__ import annotations

from gridtune.scenarios.trace_files.rows import Layout

SWF = Layout("SWF", width=18, needed=18, sites=False, text_ids=False, split=str.split)
