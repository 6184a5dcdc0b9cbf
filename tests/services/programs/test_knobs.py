"""What a trial sets beside its own keys reaches both ends, and an end that does not have it says so."""

from dataclasses import replace
from pathlib import Path

from services.python.contract.lines import Load, Target, Trial
from services.python.contract.offers import find_protocol
from services.python.contract.responder_lines import Serve
from tests.support.ends import make_trial, program, responder


def test_a_responder_refuses_a_knob_that_its_protocol_does_not_have() -> None:
    with program("services.python.programs.respond") as started:
        started.send(Serve(protocol="tcp", identity="nonce", knobs={"colour": "red"}).to_json())
        status, lines, words = started.ended_by_itself()
    assert (status, lines) == (1, [])
    assert "tcp cannot do colour: red: it has no such knob" in words


def test_a_requester_refuses_a_knob_that_its_protocol_does_not_have(tmp_path: Path) -> None:
    with responder("tcp") as (_, ready):
        trial = Trial(
            target=Target(host="127.0.0.1", port=ready["port"], identity="nonce"),
            protocol="tcp",
            client="socket",
            operation="timestamp",
            record=str(tmp_path / "record"),
            load=Load(requests=1),
            knobs={"colour": "red"},
        )
        [line] = make_trial(trial)
    assert (line["type"], line["kind"]) == ("failed", "trial")
    assert "colour: red" in line["message"]


def test_a_protocol_says_which_knobs_it_has_and_why_not() -> None:
    tcp = replace(find_protocol("tcp"), knobs={"colour": ("red",)}, without_knobs={"taste": "nobody eats it"})
    assert tcp.refusal_of({"colour": "red"}) is None
    assert tcp.refusal_of({"colour": "blue"}) == "tcp cannot do colour: blue: it has no such knob"
    assert tcp.refusal_of({"taste": "sour"}) == "tcp cannot do taste: sour: nobody eats it"
