"""Traces are read whatever state they are in, and the report accounts for every row."""

import bz2
import gc
import gzip
import lzma
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files import Keep, TraceError, iter_trace, read_trace
from tests.facts import missing, unstated

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"

HEADER = """\
;   MaxProcs: 140
; MaxNodes: 70  (dual)
; Information: http://example.org/log
;              http://example.org/more
; Queue:  1  short
; Queue:  2  long
;
; Partition:  1 grid.ici.ro
; Partition:  2 lancs.ac.uk
;    #    sub    runtime  cpus
"""


def row(number=1, submit=0, wait=5, run=60, procs=2, cpu=50, memory=-1, asked=2, limit=100, status=1, user=7):
    times = f"{number} {submit} {wait} {run} {procs} {cpu} {memory} {asked} {limit}"
    return f"{times} -1 {status} {user} 3 -1 1 2 -1 -1"


@pytest.fixture
def write(tmp_path):
    def writer(*rows, name="log.swf", header=HEADER):
        path = tmp_path / name
        path.write_text(header + "\n".join(rows) + "\n")
        return path

    return writer


def dropped(trace):
    return {reason: (tally.count, tally.first_line) for reason, tally in trace.report.dropped.items()}


def repairs(trace):
    return {reason: (tally.count, tally.first_line) for reason, tally in trace.report.repairs.items()}


def test_a_sound_row_gives_every_field(write):
    (job,) = read_trace(write("1 30 5 60.5 2 49.53 1024 4 100 2048 1 7 3 9 1 2 -1 -1")).jobs
    assert (job.id, job.submit, job.wait, job.runtime, job.processors) == (1, 0.0, 5.0, 60.5, 2)
    assert (job.estimate, job.status, job.cpu_time) == (100.0, 1, 49.53)
    assert (job.used_memory, job.requested_memory) == (1024.0, 2048.0)
    assert (job.user, job.group, job.executable, job.queue, job.partition) == ("7", "3", "9", "1", "2")
    assert (job.site, job.work) == ("2", 121.0)


def test_missing_values_are_none_and_never_minus_one(write):
    (job,) = read_trace(write("0 0 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1")).jobs
    assert job.id == 0
    assert set(job[4:]) == {None}
    (job,) = read_trace(write(row(limit=0), name="zero.swf")).jobs
    assert job.estimate is None


def test_the_header_survives_indents_trailing_words_and_repeated_keys(write):
    header = read_trace(write(row())).header
    assert header.integer("MaxProcs") == 140
    assert header.integer("MaxNodes") == 70
    assert header["MaxNodes"] == "70  (dual)"
    assert header["Queue"] == "1  short\n2  long"
    assert header["Information"] == "http://example.org/log\nhttp://example.org/more"
    assert header.site_names == {"1": "grid.ici.ro", "2": "lancs.ac.uk"}
    assert header.processors == 140
    assert header.integer("Computer") is None
    assert "http" not in header


def test_parts_of_a_job_that_another_row_sums_up_are_left_out(write):
    rows = [row(1, status=1), row(1, status=2), row(1, status=3), row(2, status=2)]
    trace = read_trace(write(*rows, header="; MaxProcs: 4\n"))
    assert [(job.id, job.status) for job in trace.jobs] == [(1, 1), (2, 2)]
    assert list(dropped(trace).values()) == [(2, 3)]
    assert trace.report.kept == 2


def test_nodes_serve_where_the_header_has_no_processors(write):
    assert read_trace(write(row(), header="; MaxNodes: 70  (dual)\n")).header.processors == 70
    assert read_trace(write(row(), header="; MaxProcs: unknown\n", name="b.swf")).header.processors is None


def test_every_dropped_row_has_a_reason_and_a_first_line(write):
    trace = read_trace(
        write(
            row(),
            row(2, run=-1, procs=0, status=5, user=-1),
            row(3, run=-1),
            row(4, procs=0, asked=-1),
            row(5, submit=-1),
            "6 10 5",
            row(7).replace("60", "sixty"),
            row(8, run="nan"),
            row(9, submit="inf"),
            "",
            row(10, procs=1.5),
        )
    )
    assert [job.id for job in trace.jobs] == [1]
    counts = dropped(trace)
    assert list(counts.values()) == [(2, 12), (1, 14), (1, 15), (5, 16)]
    assert not unstated(counts, ["cancelled"], ["processors"], ["submit time"], ["readable"])
    assert (trace.report.rows, trace.report.kept) == (10, 1)


def test_every_repair_is_counted_where_it_first_occurred(write):
    trace = read_trace(
        write(
            row(1, submit=50),
            row(2, submit=20, procs=-1, asked=8),
            row(3, submit=60, asked=8, status=9),
            row(4, submit=70) + " 1 2 3",
            row(5, submit=80, cpu="n/a", limit="?"),
            row(6, submit=90, run=0),
        )
    )
    facts = {
        ("processors", "request"): 12, ("status", "0-5"): 13, ("fields", 18): 14, ("CPU time",): 15,
        ("requested time",): 15, ("run time", "1 s"): 16, ("submit order",): 12,
    }  # fmt: skip
    assert len(repairs(trace)) == len(facts)
    for each, line in facts.items():
        assert [one for said, one in repairs(trace).items() if not missing(said, *each)] == [(1, line)]
    assert [(job.id, job.submit, job.processors) for job in trace.jobs[:2]] == [(2, 0.0, 8), (1, 30.0, 2)]
    by_id = {job.id: job for job in trace.jobs}
    assert (by_id[3].status, by_id[3].processors) == (None, 2)
    assert by_id[4].partition == "2"
    assert (by_id[5].cpu_time, by_id[5].estimate, by_id[5].runtime) == (None, None, 60.0)
    assert by_id[6].runtime == 1.0
    assert not trace.report.dropped


def test_a_report_reads_as_sentences(write):
    report = read_trace(write(row(), row(2, run=-1), row(3, procs=0))).report
    assert not unstated(
        report.lines(),
        ["3 rows", "2 kept"],
        ["dropped 1", *report.dropped, "line 12"],
        ["repaired 1", *report.repairs, "line 13"],
    )


def test_rows_without_run_time_are_kept_raised_or_dropped_as_asked(write):
    path = write(row(1, run=0), row(2, run=0.4), row(3, run=30))

    def runtimes(**keep):
        return [job.runtime for job in read_trace(path, keep=Keep(**keep)).jobs]

    assert runtimes() == [1.0, 1.0, 30.0]
    assert runtimes(minimum_runtime=0.0) == [0.0, 0.4, 30.0]
    assert runtimes(minimum_runtime=10.0) == [10.0, 10.0, 30.0]
    assert runtimes(zero_runtime=False) == [1.0, 30.0]
    assert runtimes(zero_runtime=False, minimum_runtime=0.0) == [0.4, 30.0]


@pytest.mark.parametrize("minimum", [-1.0, float("inf"), float("nan")])
def test_a_senseless_minimum_is_refused(minimum):
    with pytest.raises(ValueError, match="minimum_runtime"):
        Keep(minimum_runtime=minimum)


def test_submit_times_begin_at_0_unless_they_are_wanted_as_they_are(write):
    path = write(row(1, submit=1000), row(2, submit=1060))
    shifted, original = read_trace(path), read_trace(path, keep=Keep(shift=False))
    assert ([job.submit for job in shifted.jobs], shifted.origin) == ([0.0, 60.0], 1000.0)
    assert ([job.submit for job in original.jobs], original.origin) == ([1000.0, 1060.0], 0.0)


def test_equal_submit_times_are_ordered_by_id(write):
    trace = read_trace(write(row(3), row(1), row(2)))
    assert [job.id for job in trace.jobs] == [1, 2, 3]
    assert not trace.report.repairs


def test_a_stream_keeps_the_order_of_the_file_and_can_be_read_again(write):
    stream = iter_trace(write(row(1, submit=50), row(2, submit=20), row(3, run=-1)))
    assert [job.id for job in stream] == [1, 2]
    assert [job.id for job in stream] == [1, 2]
    assert (stream.report.rows, stream.report.kept, stream.format) == (3, 2, "SWF")
    assert stream.header.integer("MaxProcs") == 140


@pytest.mark.parametrize(("opener", "suffix"), [(gzip.open, ".gz"), (bz2.open, ".bz2"), (lzma.open, ".xz")])
def test_compression_is_seen_by_content_whatever_the_name(tmp_path, opener, suffix):
    for name in (f"log.swf{suffix}", "log.swf"):
        path = tmp_path / name
        with opener(path, "wt") as stream:
            stream.write(HEADER + row() + "\n")
        assert len(read_trace(path).jobs) == 1


def test_line_ends_and_marks_of_other_systems_do_not_matter(tmp_path):
    path = tmp_path / "dos.swf"
    path.write_bytes(b"\xef\xbb\xbf; MaxProcs: 4\r\n" + row().encode() + b"\r\n\r\n")
    trace = read_trace(path)
    assert (len(trace.jobs), trace.header.processors, trace.report.rows) == (1, 4, 1)


def gwf_row(number="1", user="U12", site="G1/site2", **changed):
    columns = {
        "submit": "1136070024",
        "wait": "203761",
        "run": "138467",
        "procs": "1",
        "cpu": "138371.5",
        "memory": "98652",
        "asked": "1",
        "limit": "259200",
        "request": "-1",
        "status": "1",
    }
    columns |= changed
    return "\t".join(
        [number, *columns.values(), user, "G1", "X1", "Q0", "-1", "G1/site1", site, "UNITARY", *["-1"] * 10]
    )


def test_a_grid_trace_has_names_and_sites(write):
    path = write(
        gwf_row(), gwf_row("2", user="-1", wait="-1"), name="anon_jobs.gwf", header="# Processors: 475\n"
    )
    first, second = read_trace(path, keep=Keep(shift=False)).jobs
    assert (first.id, first.submit, first.wait, first.runtime) == (1, 1136070024.0, 203761.0, 138467.0)
    assert (first.user, first.group, first.executable, first.queue) == ("U12", "G1", "X1", "Q0")
    assert (first.origin_site, first.run_site, first.site) == ("G1/site1", "G1/site2", "G1/site2")
    assert (first.partition, first.cpu_time, first.estimate) == (None, 138371.5, 259200.0)
    assert (second.user, second.wait) == (None, None)
    assert read_trace(path).header.processors == 475


def test_grid_traces_may_lack_fields_or_have_blanks_in_names_or_ids_of_their_own(write):
    trace = read_trace(
        write(
            "JobID\tSubmitTime\tWaitTime\tRunTime",
            gwf_row("a-1", user="U 12"),
            "\t".join(gwf_row("2").split("\t")[:18]),
            gwf_row("3").replace("\t", "  "),
            gwf_row("4", memory="", limit=""),
            name="log.gwf",
            header="#\n",
        )
    )
    assert [(job.id, job.user) for job in trace.jobs] == [(2, "U12"), (3, "U 12"), (3, "U12"), (4, "U12")]
    assert (trace.jobs[3].used_memory, trace.jobs[3].estimate) == (None, None)
    assert dropped(trace) == {"not a readable row": (1, 2)}
    assert list(repairs(trace).values()) == [(1, 3), (1, 4)]
    assert not unstated(repairs(trace), ["job id", "line number"], ["29 fields"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER + row(), "SWF"),
        (row(), "SWF"),
        (row() + " 1 2 3", "SWF"),
        ("# JobID\n" + gwf_row(), "GWF"),
        (gwf_row(), "GWF"),
    ],
)
def test_the_format_is_seen_by_content_where_the_suffix_does_not_say(tmp_path, text, expected):
    path = tmp_path / "log.txt"
    path.write_text("\n" + text + "\n")
    assert read_trace(path).format == expected


def cut(content):
    return gzip.compress(content.encode())[:-20]


def spoilt(content):
    packed = bytearray(gzip.compress(content.encode()))
    packed[len(packed) // 2 :] = b"\xff" * (len(packed) - len(packed) // 2)
    return bytes(packed)


MANY = HEADER + "\n".join(row(k, submit=k * 7, run=k * k % 977) for k in range(20_000))


@pytest.mark.long
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (cut(MANY), "too early; .*again"),
        (spoilt(MANY), "corrupt .*again"),
        (bz2.compress(MANY.encode())[:200] + b"junk" * 99, "corrupt|too early"),
        (lzma.compress(MANY.encode())[:-50], "too early|corrupt"),
        (bytes(range(256)) * 40, "is not text"),
        (b"PK\x03\x04rest", "zip archive: unpack it"),
        (b"SQLite format 3\x00", "use the text"),
        (HEADER.encode(), "no rows, only comments"),
        (b"<html>\n<body>not found</body>\n", " 2 rows .* SWF .*line 1"),
        (row(run=-1).encode(), " 1 rows .*: 1 cancelled"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_by_name_and_with_a_remedy(tmp_path, content, complaint):
    path = tmp_path / "broken.swf"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=complaint) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    with pytest.raises(TraceError, match=complaint):
        list(iter_trace(path))


def test_a_missing_file_a_folder_and_an_unknown_format_are_refused(tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        read_trace(tmp_path / "none.swf")
    with pytest.raises(TraceError, match="is a folder"):
        read_trace(tmp_path)
    odd = tmp_path / "notes.txt"
    odd.write_text("a few words\n")
    with pytest.raises(TraceError, match=r"neither SWF .* nor GWF"):
        read_trace(odd)
    assert issubclass(TraceError, ScenarioError)


def test_a_file_is_read_once_until_it_changes(write):
    path = write(row(1))
    first = read_trace(path)
    assert read_trace(str(path)) is first
    assert read_trace(path, keep=Keep(minimum_runtime=5.0)) is not first
    path.write_text(row(1) + "\n" + row(2) + "\n")
    os.utime(path, ns=(1, 1))
    assert len(read_trace(path).jobs) == 2


def test_reading_leaves_the_garbage_collector_as_it_was(write, tmp_path):
    read_trace(write(row()))
    assert gc.isenabled()
    with pytest.raises(TraceError):
        read_trace(write(row(run=-1), name="other.swf"))
    assert gc.isenabled()


def read_bytes(content, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log{suffix}"
        path.write_bytes(content)
        return read_trace(path, keep=Keep(shift=False))


@pytest.mark.long
@given(content=st.binary(max_size=400), suffix=st.sampled_from([".swf", ".gwf", ".txt"]))
def test_no_bytes_lead_to_anything_but_a_trace_or_a_trace_error(content, suffix):
    try:
        trace = read_bytes(content, suffix)
    except TraceError:
        return
    assert trace.jobs


odd = st.sampled_from(
    ["-1", "0", "1", "2.5", "1e3", "nan", "inf", "-inf", "x", "9", "1_0", "٣", "1e999", "-0"]
)


@pytest.mark.long
@given(rows=st.lists(st.lists(odd, min_size=1, max_size=30), min_size=1, max_size=8), tabs=st.booleans())
def test_every_row_is_kept_or_dropped_for_a_reason_and_kept_jobs_are_usable(rows, tabs):
    text = "\n".join(("\t" if tabs else " ").join(fields) for fields in [["1"] * 29, *rows])
    trace = read_bytes(text.encode(), ".gwf" if tabs else ".swf")
    report = trace.report
    assert report.rows == 1 + len(rows)
    assert report.rows == report.kept + sum(tally.count for tally in report.dropped.values())
    assert report.kept == len(trace.jobs)
    assert [job.submit for job in trace.jobs] == sorted(job.submit for job in trace.jobs)
    for job in trace.jobs:
        assert 0 <= job.submit < float("inf")
        assert 1 <= job.runtime < float("inf")
        assert job.processors >= 1
        assert isinstance(job.id, int)
        assert job.status in (None, 0, 1, 2, 3, 4, 5)
        assert all(n is None or 0 <= n < float("inf") for n in (job.wait, job.estimate, job.cpu_time))


real = pytest.mark.skipif(not DATA.is_dir(), reason="needs the logs in ../shared/data")


@real
@pytest.mark.parametrize(
    ("name", "rows", "kept", "raised"),
    [
        ("KTH-SP2-1996-2.1-cln", 28476, 28475, 8),
        ("NASA-iPSC-1993-3.1-cln", 18239, 18239, 173),
        ("UniLu-Gaia-2014-2", 51987, 51959, 100),
        ("excerpt-lpc-egee-busy-week", 7399, 6707, 263),
        ("excerpt-lcg-2005-day1", 13651, 13651, 0),
    ],
)
def test_real_logs_are_read_whole(name, rows, kept, raised):
    trace = read_trace(DATA / f"{name}.swf.gz")
    assert (trace.report.rows, trace.report.kept, len(trace.jobs)) == (rows, kept, kept)
    tally = trace.report.repairs.get("run time raised to the minimum of 1 s")
    assert (tally.count if tally else 0) == raised
    assert trace.jobs[0].submit == 0


@pytest.mark.parametrize(
    "strange", ["1_000", "\u0661\u0662", "\uff11\uff12"], ids=["underscore", "arabic", "wide"]
)
@pytest.mark.parametrize("place", ["number", "submit", "run", "procs", "wait", "limit", "cpu", "status"])
def test_numbers_are_what_the_format_allows(write, strange, place):
    """Python takes these for 1000 and 12; no log writes them, and no other reader takes them."""
    trace = read_trace(write(row(), row(**{place: strange})))
    if place in ("number", "submit", "run", "procs"):
        assert dropped(trace) == {"not a readable row": (1, 12)}
        assert len(trace.jobs) == 1
    else:
        assert sum(count for count, line in repairs(trace).values() if line == 12) == 1
        names = {"wait": "wait", "limit": "estimate", "cpu": "cpu_time", "status": "status"}
        assert getattr(trace.jobs[1], names[place]) is None


def test_what_a_job_follows_is_named_as_the_format_allows(write):
    trace = read_trace(write(row(), row(number=2).replace(" -1 -1", " 1_0 \u0661"), row(number=3)))
    assert [job.preceding for job in trace.jobs] == [None] * 3
