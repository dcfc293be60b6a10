"""A certificate that is not right stops the agent before anything is said, and the log says
why."""

from tests.host.e2e import SideBySide, agent_board

together = SideBySide()

# (certificate, the sentence in the log)
WRONG = [
    ("other-ca", "signed by an authority that is not in /certs"),
    ("wrong-name", "is for another host name"),
    ("expired", "has expired"),
    ("not-yet-valid", "is not valid yet"),
]


def _nothing_was_said(bench, sentence):
    bench.ready()
    bench.wait_for("telegram ")
    line = [line for line in bench.log.splitlines() if " telegram " in line][-1]
    assert sentence in line, bench.log
    bench.type("What is the temperature?")
    bench.wait_for("console   owner")
    bench.wait_for("I could not get an answer: ")
    answer = bench.log.rpartition("I could not get an answer: ")[2]
    assert sentence in answer, bench.log
    assert "Traceback" not in bench.log
    assert bench.model.requests == []
    assert bench.telegram.requests == []
    assert bench.telegram.sent == []


@together.each(WRONG)
def test_nothing_is_sent_to_a_server_that_cannot_prove_who_it_is(certificate, sentence):
    with agent_board(certificate=certificate) as bench:
        _nothing_was_said(bench, sentence)
        # The handshake was tried, and ended there.
        assert bench.model.connections and bench.telegram.connections


@together.check
def test_nothing_is_sent_without_any_authority():
    with agent_board(roots={}) as bench:
        _nothing_was_said(bench, "/certs")


@together.check
def test_another_authority_beside_the_right_one_does_no_harm():
    def roots(services):
        return {"other": services.authority.other_der, "right": services.ca_der}

    with agent_board(roots=roots) as bench:
        bench.ready()
        bench.echo("hello")
        bench.telegram.wait_sent(1)
