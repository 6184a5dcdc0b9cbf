"""JSON from elsewhere: what people and orch would read differently is refused."""

import pytest

from orchestrator.strict_json import parse_json


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"port": 1, "port": 2}', "the key 'port' occurs twice"),
        ('{"a": [{"b": 1, "b": 1}]}', "the key 'b' occurs twice"),
        ("[NaN]", "NaN is not a number of JSON"),
        ("[1e999]", "a number is not finite"),
        (str(1 << 65), "more than 64 bits"),
    ],
)
def test_what_orch_never_writes_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_json(text)


def test_many_keys_of_which_the_last_stands_there_twice_are_refused_at_once() -> None:
    keys = ",".join(f'"k{number}":1' for number in range(200_000))
    with pytest.raises(ValueError, match="'k199999' occurs twice"):
        parse_json(f'{{{keys},"k199999":1}}')
