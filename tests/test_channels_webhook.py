# The webhook: the request for an alert, and the outcome of each answer.
import json
import unittest

from channels_fakes import FakeServer, OneWayApp
from support import run
from tenner.channels.webhook import part

SETTINGS = {
    "name": "attic",
    "webhook.url": "https://hooks.example/x",
    "webhook.key": "",
    "webhook.member": "text",
}


def send(server, **settings):
    """Return the outcome of an alert that is sent to this server."""
    made = part.make(OneWayApp(server, SETTINGS, **settings))
    return run(made.send("alert", "Warm: 31 \u00b0C", began=lambda: server.began.append(True)))


class TestWebhook(unittest.TestCase):
    def test_an_alert_is_json_of_one_request(self):
        server = FakeServer()
        self.assertEqual(send(server), ("ok", None))
        self.assertEqual(server.request[:2], ("POST", "https://hooks.example/x"))
        self.assertEqual(server.request[2], {"Content-Type": "application/json"})
        self.assertEqual(json.loads(server.body), {"agent": "attic", "text": "Warm: 31 \u00b0C"})

    def test_the_outbox_hears_of_the_sending_pass_alone(self):
        server = FakeServer()
        send(server)
        self.assertEqual(server.counted, server.body)
        self.assertEqual((server.before, len(server.began)), (0, 1))

    def test_its_key_and_another_name_of_the_text(self):
        server = FakeServer(204)
        self.assertEqual(send(server, webhook__key="s3cret", webhook__member="content")[0], "ok")
        self.assertEqual(server.request[2]["Authorization"], "Bearer s3cret")
        self.assertEqual(json.loads(server.body)["content"], "Warm: 31 \u00b0C")

    def test_what_becomes_of_each_answer(self):
        for status, headers, outcome in (
            (200, {}, ("ok", None)),
            (202, {}, ("ok", None)),
            (301, {}, ("refused", "its server answers 301")),
            (401, {}, ("refused", "its server answers 401")),
            (404, {}, ("refused", "its server answers 404")),
            (408, {}, ("retry", None)),
            (429, {"retry-after": "7"}, ("retry", 7)),
            (429, {"retry-after": "999999"}, ("retry", 3600)),
            (429, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, ("retry", None)),
            (500, {}, ("retry", None)),
            (503, {"retry-after": "120"}, ("retry", 120)),
        ):
            self.assertEqual(send(FakeServer(status, headers)), outcome)

    def test_a_failure_before_all_was_sent_is_tried_again(self):
        self.assertEqual(send(FakeServer(error=OSError("reset"))), ("retry", None))
        self.assertEqual(
            send(FakeServer(error=OSError("reset"), is_sent=True)), ("unknown", "reset")
        )

    def test_no_connection_stays_open(self):
        server = FakeServer()
        run(part.make(OneWayApp(server, SETTINGS)).idle())
        self.assertEqual(server.closed, 1)


if __name__ == "__main__":
    unittest.main()
