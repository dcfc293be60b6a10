"""Alarms of the whole agent, as an owner meets them: buttons in Telegram, /alarms at a broker, an
edit by the agent."""

import json
import re

from tenner_sim.services import OWNER
from tenner_sim.services.authority import Authority
from tests.host.broker import Broker, Owner
from tests.host.e2e import PSRAM, agent_board

#: The firmware sends the message: no model is asked.
WARM = "- (every 1s; when room.temperature > 30 reset 28; notify) Warm: {room.temperature}\n"
ALERT = f"# Heartbeat\n\n{WARM}"
ALARM = re.compile(r"alarm (\d+): (\w+)")


def press(bench, message, label):
    """Press a button under the message of an alarm and return the answer."""
    before = len(bench.told())
    data = {button["text"]: button["callback_data"] for button in message.buttons}
    bench.telegram.press(message, data[label])
    return bench.telegram.wait_sent(before + 1)[before].text


NORMAL = r'^back to normal: "Warm: {} °C"; room\.temperature 20 °C \(limit 30\);'


def alarm_message(bench, pattern, count=1):
    """Wait for a message of an alarm; return it as it was sent, with its buttons."""
    bench.wait_told(pattern, count=count)
    found = [one for one in list(bench.telegram.sent) if re.search(pattern, one.text)]
    return found[count - 1]


def test_a_group_of_topics_that_owns_the_board():
    group = -100_777
    changes = {"telegram.owner": group, "telegram.allow": [group]}
    with agent_board(ALERT, changes=changes) as bench:
        bench.telegram.add_chat(group, "supergroup")
        bench.ready()

        def ask(text, **extra):
            count = len(bench.told(group))
            words = f"{text}@tenner_offline_bot" if text[:1] == "/" else text
            more = {"message_thread_id": 12, "chat_type": "supergroup"}
            bench.telegram.say(group, words, from_id=OWNER, **more, **extra)
            bench.telegram.wait_sent(count + 1, chat_id=group)

        ask("/status")
        ask("@tenner_offline_bot say: hello")
        bench.board.set("room.temperature", 31.5)
        bench.wait_told(r"^Warm: 31\.5 °C \(limit 30\)$", chat=group)
        assert {one.topic for one in bench.telegram.sent} == {12}
        alarm = next(one for one in bench.telegram.sent if one.text.startswith("Warm"))
        ask("@tenner_offline_bot say: what is it?", reply_to=alarm.message_id)
        prompt = bench.model.requests[-1].body.decode()
        assert re.search(r"\(I reply to your alarm \d+\)\\n> Warm: 31.5", prompt), prompt[-900:]


def test_the_buttons_of_an_alarm():
    with agent_board(ALERT) as bench:
        bench.ready()
        bench.board.set("room.temperature", 31.5)
        message = alarm_message(bench, r"^Warm: 31\.5 °C \(limit 30\)$")
        labels = [button["text"] for button in message.buttons]
        assert labels == ["Acknowledge", "Mute 1 h", "Why"]

        why = press(bench, message, "Why")
        found = ALARM.match(why)
        assert found and found[2] == "active", why
        assert "waits for reset 28" in why and "still: room.temperature 31.5 °C (limit 30);" in why

        answer = press(bench, message, "Acknowledge")
        about = '"Warm: 31.5 °C"; room.temperature 31.5 °C (limit 30).'
        assert answer == f"Acknowledged: {about} I will say when it is over."
        assert bench.ask("/alarms").startswith(f"alarm {found[1]}: acknowledged since ")
        bench.telegram.wait_for(lambda _: len(message.buttons) == 3)
        assert re.match(r"\u2713 acknowledged (\d\d:\d\d )?by ", message.buttons[0]["text"])
        assert [button["text"] for button in message.buttons[1:]] == ["Mute 1 h", "Why"]

        # An end is told once; it has no buttons, and those of the first message find nothing any
        # more.
        bench.board.set("room.temperature", 20)
        end = alarm_message(bench, NORMAL.format("31.5"))
        assert not end.buttons and end.reply_to == message.message_id
        gone = press(bench, message, "Mute 1 h")
        assert gone.startswith(f"There is no alarm {found[1]} now"), gone

        # The next episode is another alarm; muted, its end waits.
        bench.board.set("room.temperature", 33)
        second = alarm_message(bench, r"^Warm: 33 °C \(limit 30\)$")
        answer = press(bench, second, "Mute 1 h")
        assert answer.startswith('Muted for 1 h: "Warm: 33 °C"; room.temperature 33'), answer
        told = len(bench.told())
        bench.board.set("room.temperature", 20)
        bench.wait_for("room.temperature 20 > 30: alarm")
        assert "muted until " in bench.ask("/alarms")
        assert len(bench.told()) == told + 1
        # It was kept, and is told when nobody minds any more.
        bench.telegram.say(message.chat_id, "/alarms unmute line 3")
        bench.wait_told("^Not muted any more")
        bench.wait_told(NORMAL.format("33"))
        assert bench.model.requests == []
        assert "Traceback" not in bench.log


def test_alarms_of_one_beat_have_one_message_with_the_buttons_of_all():
    fan = "- (every 1s; when room.temperature > 31 reset 28; notify) Switch the fan on.\n"
    with agent_board(ALERT + fan) as bench:
        bench.ready()
        bench.board.set("room.temperature", 31.5)
        message = alarm_message(bench, r"^2 alarms:\n")
        assert message.text.split("\n")[1:] == [
            "\u2022 Warm: 31.5 °C (limit 30)",
            "\u2022 Switch the fan on. room.temperature 31.5 °C (limit 31)",
        ]
        assert [one["text"] for one in message.buttons] == ["Acknowledge", "Mute 1 h", "Why"]
        answer = press(bench, message, "Acknowledge")
        assert answer.startswith('Acknowledged: "Warm: 31.5 °C"; room') and "the fan" in answer
        assert bench.ask("/alarms").count("acknowledged since") == 2
        bench.telegram.wait_for(lambda _: len(message.buttons) == 3)
        assert re.match(r"\u2713 acknowledged (\d\d:\d\d )?by ", message.buttons[0]["text"])
        bench.board.set("room.temperature", 20)
        bench.wait_told("^back to normal:", count=2)
        ends = [one for one in bench.telegram.sent if one.text.startswith("back")]
        assert {one.reply_to for one in ends} == {message.message_id}


def test_alarms_over_the_broker(tmp_path):
    with Broker(tmp_path, Authority()) as broker:
        changes = {
            **broker.settings(),
            "telegram.token": None,
            "telegram.owner": None,
            "mqtt.topic": "attic",
        }

        def roots(services):
            return {"stand-in": services.ca_der, "broker": broker.authority.der}

        with agent_board(ALERT, changes=changes, roots=roots, heap=PSRAM) as bench:
            owner = Owner(broker)
            owner.wait("attic/status")

            def ask(text):
                heard = len(owner.heard)
                owner.publish("attic/say", text)
                return owner.wait("attic/answer", after=heard)

            # The first beat may still be to come.
            assert re.match(
                r"line 3: (clear|not read yet); room\.temperature > 30", ask("/alarms")
            )
            bench.board.set("room.temperature", 31.5)
            assert owner.wait("attic/alert").startswith("Warm: 31.5")
            found = ALARM.match(ask("/alarms"))
            assert found and found[2] == "active"
            data = json.loads(ask("/alarms json"))
            assert (data["alarm"], data["value"], data["line"]) == (int(found[1]), 31.5, 3)
            assert ask(f"/alarms ack {found[1]}").startswith("Acknowledged: ")
            assert ALARM.match(ask("/alarms"))[2] == "acknowledged"
            assert ask("/alarms mute line 3 2h").startswith("Muted for 2 h: ")
            assert "muted until " in ask("/alarms")
            assert ask("/alarms unmute line 3").startswith("Not muted any more: ")
            heard = len(owner.heard)
            bench.board.set("room.temperature", 20)
            end = owner.wait("attic/alert", lambda text: "back to normal" in text, heard)
            assert re.match(NORMAL.format("31.5"), end)
            assert ask("/alarms").startswith("line 3: clear; ")
            assert bench.model.requests == []
            owner.close()


def test_what_the_agent_writes_into_the_file_is_watched_at_once():
    with agent_board() as bench:
        bench.ready()
        write = {"path": "HEARTBEAT.md", "content": ALERT}
        bench.board.set("room.temperature", 31.5)
        bench.telegram.say(OWNER, f"call write_file {json.dumps(write)}")
        # Nobody asks, and nobody types.
        bench.wait_for("HEARTBEAT.md: 1 tasks")
        bench.wait_told(r"^Warm: 31\.5 °C \(limit 30\)$")
        hourly = WARM.replace("1s", "1h").replace("31", "32")
        write["content"] = f"# Heartbeat\n\n{hourly}- (every 2h) Look.\n"
        # Its answer comes first, for the next one is that of /why.
        bench.ask(f"call write_file {json.dumps(write)}")
        bench.wait_for("HEARTBEAT.md: 2 tasks")
        found = re.search(r"next: in (\d+) s; ", bench.ask("/why"))
        assert 0 < int(found[1]) <= 3600
