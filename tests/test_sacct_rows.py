"""Accounting made of a trace says of each job what the trace says."""

from gridtune.scenarios.trace_files.reading import read_trace
from tests.benchmarks.sacct_rows import WEEK, write_sacct

ROWS = """\
; MaxProcs: 8
1 0 60 600 4 -1 -1 4 1200 -1 1 3 2 -1 1 -1 -1 -1
2 90 0 30 1 -1 -1 1 -1 -1 0 4 2 -1 2 -1 -1 -1
3 700000 5 50 8 -1 -1 8 60 -1 1 3 2 -1 1 -1 -1 -1
"""


def test_accounting_made_of_a_trace_is_read_as_the_trace_is(tmp_path):
    (tmp_path / "log.swf").write_text(ROWS)
    write_sacct(tmp_path / "log.swf", 5, tmp_path / "sacct.txt")
    known, made = (read_trace(tmp_path / name).jobs for name in ("log.swf", "sacct.txt"))
    assert [job.id for job in made] == [1, 2, 3, 4, 5]
    for one, other in zip([*known, *known], made, strict=False):
        later = 2 * WEEK if other.id > 3 else 0.0  # the log has eight days
        assert (other.submit, other.wait, other.runtime) == (one.submit + later, one.wait, one.runtime)
        assert (other.processors, other.estimate, other.status) == (one.processors, one.estimate, one.status)
        assert other.user == f"user{one.user}"
