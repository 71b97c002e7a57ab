"""The Grid Workload Format of the Grid Workloads Archive, in its text form.

Comment lines begin with `#`. A job is a line of 29 fields, as a rule between tabs: the first 16 are those of
the Standard Workload Format, then follow the site of origin, the site of execution, the structure of the job,
what it used and requested of network, disk and other resources, its virtual organisation and its project.
Users, groups, executables, queues and sites are names; -1 means unknown; status is 1 completed, 0 failed,
5 cancelled.
"""

from __future__ import annotations

from gridtune.scenarios.trace_files.rows import Layout

_WIDTH = 29
_NEEDED = 18


def split(line: str) -> list[str]:
    """The fields of a line: between tabs where it has them, as names may hold blanks, else between blanks."""
    if line.count("\t") >= _NEEDED - 1:
        return line.rstrip("\r\n").split("\t")
    return line.split()


GWF = Layout("GWF", width=_WIDTH, needed=_NEEDED, sites=True, text_ids=True, split=split)
