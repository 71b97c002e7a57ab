"""What is too large to be meant is refused at once, with the limit named: little work, whatever is asked."""

import gzip
from time import process_time

import pytest

from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.execution.size import tell_size
from gridtune.scenarios.trace_files import TraceError, read_trace

pytestmark = pytest.mark.long

# CPU seconds, on a machine that does other things, too; before there were limits these took 20 to 50.
MOST = 8.0


def refused_in_time(action, error, message):
    began = process_time()
    with pytest.raises(error, match=message):
        action()
    assert process_time() - began < MOST


@pytest.mark.parametrize(("count", "message"), [(540_000, "4,000,000 bytes"), (150_000, "100,000 keys")])
def test_many_unknown_keys_are_refused(tmp_path, count, message):
    file = tmp_path / "keys.toml"
    file.write_text('title = "t"\n' + "\n".join(f"k{k:07d} = 1" for k in range(count)))
    refused_in_time(lambda: load(file), ScenarioError, message)


def test_of_many_faults_the_first_are_told(tmp_path):
    file = tmp_path / "keys.toml"
    file.write_text('title = "t"\n' + "\n".join(f"k{k} = 1" for k in range(20_000)))
    refused_in_time(lambda: load(file), ScenarioError, r"20,00\d faults, of which these are the first")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b";\n", "200,000 comments and blank lines"),
        (b"\n", "200,000 comments and blank lines"),
        (b"x\n", "100000 rows is readable"),
    ],
)
def test_a_small_archive_of_very_many_lines_is_refused(tmp_path, line, message):
    file = tmp_path / "lines.swf.gz"
    with gzip.open(file, "wb", 9) as packed:
        for _ in range(200):
            packed.write(line * 200_000 if line != b"x\n" else line * 100_000)
    assert file.stat().st_size < 300_000
    refused_in_time(lambda: read_trace(file), TraceError, message)


def test_comments_of_a_real_size_are_read(tmp_path):
    file = tmp_path / "t.swf"
    file.write_text("; Note: x\n" * 20_000 + "1 0 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    assert len(read_trace(file).jobs) == 1


@pytest.mark.parametrize("count", [1_000_000, 10_000_000])
def test_the_memory_of_many_users_is_told(caplog, count):
    with caplog.at_level("INFO"):
        tell_size(load("diet/day-regular").override({"workload.count": count}), 1, 1)
    assert "GB of memory" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".".join(["a"] * 30_000) + " = 1", "more than 40 levels"),
        ("a = [" + "1," * 1_500_000 + "]", "100,000 keys"),
    ],
)
def test_what_takes_long_to_parse_is_refused_before(tmp_path, text, message):
    file = tmp_path / "deep.toml"
    file.write_text(f'title = "t"\n{text}\n')
    began = process_time()
    with pytest.raises(ScenarioError, match=message):
        load(file)
    assert process_time() - began < 1.0
