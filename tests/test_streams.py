"""Random streams depend on seed, replication and purpose, and on nothing else."""

import numpy as np
import pytest

from gridtune.model.streams import Streams


def draw(*key, purpose="workload"):
    return Streams(*key).stream(purpose).random(3)


def test_equal_keys_give_equal_streams_whatever_else_was_drawn():
    streams = Streams(1, 2)
    streams.stream("platform").random(100)
    assert np.array_equal(streams.stream("workload").random(3), draw(1, 2))


def test_each_part_of_the_key_matters():
    drawn = [draw(1, 2), draw(2, 2), draw(1, 3), draw(1, 2, purpose="platform")]
    assert len({tuple(values) for values in drawn}) == 4


def test_negative_seeds_are_refused():
    with pytest.raises(ValueError, match="negative"):
        Streams(-1)
