"""What a message states: numbers, paths, names and options, whatever the words around them."""

import re


def missing(text, *facts):
    """The facts that a text does not state; a number that is a piece of another one is not stated."""
    return [
        fact for fact in facts if not re.search(rf"(?<!\w)(?<!\d\.){re.escape(str(fact))}(?!\w|\.\d)", text)
    ]


def unstated(texts, *facts):
    """The texts that lack some of their facts, with those; there are facts for each text, in their order."""
    pairs = zip(texts, facts, strict=True)
    return [(text, lacks) for text, each in pairs if (lacks := missing(text, *each))]
