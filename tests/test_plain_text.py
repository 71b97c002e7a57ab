"""Control characters are escaped or refused, and names are quoted."""

import io
import json
import shlex
import tomllib
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gridtune.plain_text import CONTROLS, JOINERS, PlainStream, argument, escaped, hidden
from gridtune.scenarios.results.json_text import to_json

CONTROL = [
    letter
    for code in range(0x110000)
    if unicodedata.category(letter := chr(code)) in CONTROLS and letter not in JOINERS
]


def test_every_control_character_is_escaped_and_refused():
    assert len(CONTROL) > 2000, "surrogates are among them"
    for letter in CONTROL:
        assert escaped(letter).isascii()
        assert escaped(letter).isprintable()
        assert hidden(f"a{letter}b")
    assert escaped("".join(CONTROL), "\n\t").count("\n") == 1


@pytest.mark.parametrize(
    "name", ["é", "日本", "a b", "a\u00a0b", "می\u200cخواهم", "👩\u200d🔬", "", "a'b\"c`$"]
)
def test_letters_that_do_nothing_stay(name):
    assert escaped(name) == name
    assert hidden(name) == ""


@given(st.text(st.sampled_from([*CONTROL[:70], "a", "é", '"', "\\", "\U000e0041", "\u202e"])))
@example("x\nhorizon = 20.0")
def test_json_and_toml_say_the_same_with_escapes(text):
    made = to_json({text: text})
    assert json.loads(made) == {text: text}
    assert escaped(made, "\n") == made
    plain = "".join(letter for letter in text if letter not in '"\\')
    assert tomllib.loads(f'a = "{escaped(plain)}"') == {"a": plain}


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@example("-rf")
@example("$(touch obeyed)")
def test_an_argument_is_one_word_and_no_option(name):
    assert shlex.split(argument(name)) == [f"./{name}" if name.startswith("-") else name]


def test_a_plain_stream_keeps_lines_and_tabs():
    stream = io.StringIO()
    print("a\x1b[2J", "b\tc\r", sep="\n", file=PlainStream(stream), flush=True)
    assert stream.getvalue() == "a\\u001b[2J\nb\tc\\r\n"
