# Updates of every kind that Telegram has: those that are not for the agent are silent.
import json
import unittest

from channels_fakes import OWNER, Bench, FakeState, refusal
from support import run

NOW = 1800000000
USER = {"id": OWNER, "is_bot": False, "first_name": "Ann"}
CHAT = {"id": OWNER, "type": "private", "first_name": "Ann"}
GROUP = {"id": -100777, "type": "supergroup", "title": "Home"}
OTHER = {"message_id": 4, "from": USER, "chat": CHAT, "date": NOW, "text": "earlier"}
BOT = {"id": 77, "is_bot": True, "first_name": "tenner", "username": "tenner_bot"}


def member(status):
    return {"status": status, "user": BOT}


#: The members of Update but the three that the bot asks for.
UPDATES = {
    "channel_post": {"message_id": 1, "chat": GROUP, "date": NOW, "text": "news"},
    "edited_channel_post": {"message_id": 1, "chat": GROUP, "date": NOW, "text": "news"},
    "business_connection": {"id": "b", "user": USER, "user_chat_id": OWNER, "date": NOW},
    "business_message": dict(OTHER, business_connection_id="b"),
    "edited_business_message": dict(OTHER, business_connection_id="b"),
    "deleted_business_messages": {"business_connection_id": "b", "chat": CHAT, "message_ids": [1]},
    "guest_message": dict(OTHER, guest_query_id="g"),
    "message_reaction": {
        "chat": CHAT,
        "message_id": 4,
        "user": USER,
        "date": NOW,
        "old_reaction": [],
        "new_reaction": [{"type": "emoji", "emoji": "\U0001f44d"}],
    },
    "message_reaction_count": {"chat": GROUP, "message_id": 4, "date": NOW, "reactions": []},
    "inline_query": {"id": "1", "from": USER, "query": "text", "offset": ""},
    "chosen_inline_result": {"result_id": "1", "from": USER, "query": "text"},
    "shipping_query": {"id": "1", "from": USER, "invoice_payload": "x"},
    "pre_checkout_query": {"id": "1", "from": USER, "currency": "XTR", "total_amount": 1},
    "purchased_paid_media": {"from": USER, "paid_media_payload": "x"},
    "poll": {"id": "1", "question": "Tea?", "options": [{"text": "yes", "voter_count": 1}]},
    "poll_answer": {"poll_id": "1", "user": USER, "option_ids": [0]},
    "my_chat_member": {
        "chat": CHAT,
        "from": USER,
        "date": NOW,
        "old_chat_member": member("kicked"),
        "new_chat_member": member("member"),
    },
    "chat_member": {
        "chat": GROUP,
        "from": USER,
        "date": NOW,
        "old_chat_member": member("left"),
        "new_chat_member": member("member"),
    },
    "chat_join_request": {"chat": GROUP, "from": USER, "user_chat_id": OWNER, "date": NOW},
    "chat_boost": {"chat": GROUP, "boost": {"boost_id": "1", "add_date": NOW}},
    "removed_chat_boost": {"chat": GROUP, "boost_id": "1", "remove_date": NOW},
    "managed_bot": {"user": USER, "bot": BOT},
    "custom_event": {"data": "x"},
    "a_kind_of_next_year": {"message_id": 1, "from": USER, "chat": CHAT, "text": "x"},
}
PHOTO = [{"file_id": "x", "file_unique_id": "u", "width": 90, "height": 90}]
PERIOD = {"start_date": NOW}
#: Fields of messages about the chat, and of those that no person has written for the bot.
SERVICE = {
    "new_chat_members": [USER, BOT],
    "left_chat_member": USER,
    "chat_owner_left": {"new_owner": USER},
    "chat_owner_changed": {"new_owner": USER},
    "new_chat_title": "Kitchen",
    "new_chat_photo": PHOTO,
    "delete_chat_photo": True,
    "group_chat_created": True,
    "supergroup_chat_created": True,
    "channel_chat_created": True,
    "message_auto_delete_timer_changed": {"message_auto_delete_time": 86400},
    "migrate_to_chat_id": -100888,
    "migrate_from_chat_id": -5,
    "pinned_message": OTHER,
    "invoice": {"title": "Tea", "description": "text", "currency": "XTR", "total_amount": 1},
    "successful_payment": {"currency": "XTR", "total_amount": 1, "invoice_payload": "x"},
    "refunded_payment": {"currency": "XTR", "total_amount": 1, "invoice_payload": "x"},
    "users_shared": {"request_id": 1, "users": [{"user_id": 5}]},
    "user_shared": {"request_id": 1, "user_id": 5},
    "chat_shared": {"request_id": 1, "chat_id": -100777},
    "gift": {"gift": {"id": "1"}, "text": "for you"},
    "unique_gift": {"gift": {"base_name": "x"}, "origin": "upgrade"},
    "gift_upgrade_sent": {"gift": {"id": "1"}, "text": "for you"},
    "connected_website": "example.org",
    "write_access_allowed": {"from_request": True},
    "passport_data": {"data": [], "credentials": {"data": "x", "hash": "x", "secret": "x"}},
    "proximity_alert_triggered": {"traveler": USER, "watcher": USER, "distance": 5},
    "boost_added": {"boost_count": 1},
    "chat_background_set": {"type": {"type": "fill"}},
    "checklist_tasks_done": {"checklist_message": OTHER, "marked_as_done_task_ids": [1]},
    "checklist_tasks_added": {"checklist_message": OTHER, "tasks": [{"id": 1, "text": "x"}]},
    "direct_message_price_changed": {"are_direct_messages_enabled": True},
    "forum_topic_created": {"name": "Alarms", "icon_color": 7322096},
    "forum_topic_edited": {"name": "Alarms"},
    "forum_topic_closed": {},
    "forum_topic_reopened": {},
    "general_forum_topic_hidden": {},
    "general_forum_topic_unhidden": {},
    "giveaway_created": {"prize_star_count": 1},
    "giveaway": {"chats": [GROUP], "winners_selection_date": NOW, "winner_count": 1},
    "giveaway_winners": {"chat": GROUP, "giveaway_message_id": 3, "winners": [USER]},
    "giveaway_completed": {"winner_count": 1, "giveaway_message": OTHER},
    "managed_bot_created": {"bot": BOT},
    "paid_message_price_changed": {"paid_message_star_count": 1},
    "paid_media": {"star_count": 1, "paid_media": [{"type": "photo", "photo": PHOTO}]},
    "poll_option_added": {"option_text": "x"},
    "poll_option_deleted": {"option_text": "x"},
    "suggested_post_approved": {"suggested_post_message": OTHER, "send_date": NOW},
    "suggested_post_approval_failed": {"suggested_post_message": OTHER},
    "suggested_post_declined": {"suggested_post_message": OTHER, "comment": "no"},
    "suggested_post_paid": {"suggested_post_message": OTHER, "currency": "XTR"},
    "suggested_post_refunded": {"suggested_post_message": OTHER, "reason": "post_deleted"},
    "video_chat_scheduled": PERIOD,
    "video_chat_started": {},
    "video_chat_ended": {"duration": 60},
    "video_chat_participants_invited": {"users": [USER]},
    "web_app_data": {"data": "text", "button_text": "x"},
    "a_service_of_next_year": {"text": "x", "from": USER, "chat": CHAT, "message_id": 3},
}
#: Contents that people send, and wait for an answer.
CONTENTS = {
    "location": {"latitude": 1.5, "longitude": 2.5},
    "venue": {"location": {"latitude": 1.5, "longitude": 2.5}, "title": "x", "address": "y"},
    "contact": {"phone_number": "+4912345", "first_name": "Bob", "user_id": 5},
    "dice": {"emoji": "\U0001f3b2", "value": 3},
    "poll": UPDATES["poll"],
    "game": {"title": "x", "description": "text", "photo": PHOTO},
    "story": {"chat": CHAT, "id": 3},
    "checklist": {"title": "x", "tasks": [{"id": 1, "text": "milk"}]},
}


class TestSilence(unittest.TestCase):
    def assert_silent(self, fill, about, count=0):
        """Let `fill(server)` put updates into the queue: only the message after them counts."""
        for piece in (64, 1):
            bench = Bench()
            bench.server.piece = piece
            fill(bench.server)
            bench.server.say("after it")
            taken = [message.text for message in run(bench.step())]
            self.assertEqual((taken, len(bench.said)), (["after it"], count), (about, bench.said))
            self.assertEqual(bench.server.updates, [])

    def test_updates_that_were_not_asked_for(self):
        for kind in UPDATES:
            for who in (OWNER, 3000):
                text = json.dumps(UPDATES[kind]).replace('"id": 1000', '"id": %d' % who)
                self.assert_silent(lambda s, k=kind, t=text: s.update(k, json.loads(t)), kind)

    def test_messages_about_the_chat(self):
        group = {"chat": -100777, "chat_type": "supergroup"}
        for name in SERVICE:
            for more in ({}, {"who": 3000}, group, dict(group, who=3000)):
                extra = dict(more)
                extra[name] = SERVICE[name]
                self.assert_silent(lambda s, e=extra: s.say(None, **e), name)

    def test_what_a_person_sends_is_refused_once(self):
        for name in CONTENTS:
            extra = {name: CONTENTS[name]}
            self.assert_silent(lambda s, e=extra: s.say(None, **e), name, 1)

    def test_a_live_location_moves_on_in_silence(self):
        place = {"latitude": 1.5, "longitude": 2.5, "live_period": 900}

        def fill(server):
            server.say(None, location=place, message_id=1001)
            for _ in range(5):
                server.update(
                    "edited_message",
                    {"message_id": 1001, "from": USER, "chat": CHAT, "location": place},
                )

        self.assert_silent(fill, "live location", 1)

    def test_edits_are_refused_once_for_each_message(self):
        def fill(server):
            for number in (7, 7, 8, 7, 8, 8):
                server.update(
                    "edited_message",
                    {"message_id": number, "from": USER, "chat": CHAT, "text": "turn it off"},
                )

        self.assert_silent(fill, "edits", 2)


class TestNumbers(unittest.TestCase):
    """After a week without updates, Telegram may restart its numbers."""

    def test_lower_numbers_are_taken_at_boot(self):
        for first in (1, 20, 480):
            bench = Bench(state=FakeState({"o": 502, "p": {}, "s": []}))
            bench.server.next_id = first - 1
            bench.server.say("a")
            bench.server.say("b")
            taken = run(bench.step())
            self.assertEqual([message.text for message in taken], ["a", "b"])
            self.assertEqual((bench.server.updates, bench.state.kept["o"]), ([], first + 2))
            self.assertEqual([fields["offset"] for fields in bench.polls()][:2], [502, first + 1])
            again = Bench(bench.server, FakeState(bench.state.kept))
            self.assertEqual(run(again.step()), [])

    def test_a_confirmed_update_is_not_taken_again(self):
        for id in (492, 501):
            bench = Bench(state=FakeState({"o": 502, "p": {}, "s": []}))
            message = dict(OTHER, text="open the valve")
            reply = json.dumps({"ok": True, "result": [{"update_id": id, "message": message}]})
            bench.server.plan["getUpdates"] = [(200, reply.encode())]
            self.assertEqual((run(bench.step()), bench.waits), ([], [1000]))


class TestMoved(unittest.TestCase):
    """A group that becomes a supergroup has a new id."""

    def move(self, bench):
        bench.server.say(None, chat=-5, chat_type="group", migrate_to_chat_id=-100987)
        more = {"chat": -100987, "chat_type": "supergroup"}
        bench.server.say(None, migrate_from_chat_id=-5, **more)
        bench.server.say("@tenner_bot hi", who=3000, **more)
        return [message.chat for message in run(bench.step())]

    def test_its_members_stay_let_in_and_the_owner_is_told(self):
        bench = Bench(allow=["-5"])
        self.assertEqual(self.move(bench), ["-100987"])
        (told,) = bench.said
        self.assertEqual(told[0], "1000")
        self.assertTrue("-100987" in told[1] and "config.json" in told[1], told)

    def test_a_group_that_owns_the_board(self):
        bench = Bench(owner="-5", allow=["-5"])
        self.assertEqual(self.move(bench), ["-100987"])
        self.assertEqual((bench.bot.home, bench.said[0][0]), ("-100987", "-100987"))
        self.assertEqual(bench.bot.config.get("telegram.owner"), "-100987")

    def test_a_group_that_is_not_let_in_stays_out(self):
        bench = Bench(allow=["-6"])
        self.assertEqual(self.move(bench), [])
        self.assertEqual(["new id" in said[1] for said in bench.said], [False])


HOOKED = refusal(
    409,
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete "
    "the webhook first",
)


class TestWebhook(unittest.TestCase):
    def removals(self, bench):
        return [fields for name, fields in bench.server.calls if name == "deleteWebhook"]

    def test_it_is_removed_once_and_told(self):
        bench = Bench()
        bench.server.say("hello")
        bench.server.plan["getUpdates"] = [HOOKED]
        self.assertEqual(run(bench.step()), [])
        self.assertTrue("webhook" in bench.bot.status and bench.waits == [1000], bench.bot.status)
        self.assertEqual([message.text for message in run(bench.step())], ["hello"])
        # Telegram keeps the updates that wait.
        self.assertEqual(self.removals(bench), [{"drop_pending_updates": False}])
        self.assertEqual(["webhook" in said[1] for said in bench.said], [True])

    def test_one_that_comes_back_is_anothers(self):
        bench = Bench()
        bench.server.plan["getUpdates"] = [HOOKED] * 3
        for _ in range(3):
            run(bench.step())
        self.assertEqual(len(self.removals(bench)), 1)
        self.assertTrue("another program" in bench.bot.status, bench.bot.status)
        bench.server.say("hello")
        self.assertEqual([message.text for message in run(bench.step())], ["hello"])

    def test_a_removal_that_fails_is_repeated(self):
        for failure in (OSError(104), refusal(429, "Too Many Requests", retry_after=7)):
            bench = Bench()
            bench.server.say("hello")
            bench.server.plan["getUpdates"] = [HOOKED]
            bench.server.plan["deleteWebhook"] = [failure]
            for _ in range(2):
                self.assertEqual((run(bench.step()), bench.said), ([], []))
            self.assertEqual([message.text for message in run(bench.step())], ["hello"])
            self.assertEqual((len(self.removals(bench)), len(bench.said)), (2, 1))


class TestAnonymous(unittest.TestCase):
    """Telegram gives a stand-in for the writer who writes in the name of a chat."""

    ANONYMOUS = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    CHANNEL = {"id": 136817688, "is_bot": True, "first_name": "Channel"}

    def taken(self, writer, sender, **config):
        bench = Bench(**config)
        bench.server.say(
            "@tenner_bot hello",
            chat=-100777,
            chat_type="supergroup",
            sender_chat={"id": sender, "type": "supergroup", "title": "Home"},
            **{"from": writer},
        )
        found = [(one.text, one.by_owner) for one in run(bench.step())]
        self.assertEqual(bench.said, [])
        return found

    def test_in_a_group_that_is_allowed_it_is_a_member(self):
        allow = ["-100777"]
        self.assertEqual(self.taken(self.ANONYMOUS, -100777, allow=allow), [("hello", False)])
        self.assertEqual(self.taken(self.CHANNEL, -100555, allow=allow), [("hello", False)])

    def test_it_is_never_the_owner(self):
        for owner in ("-100777", "1087968824"):
            found = self.taken(self.ANONYMOUS, -100777, owner=owner, allow=["-100777"])
            self.assertEqual(found, [("hello", False)])

    def test_elsewhere_it_is_nobody(self):
        # The stand-in's id is the same in every group.
        for allow in ([], ["1087968824"], ["-100778"]):
            self.assertEqual(self.taken(self.ANONYMOUS, -100777, allow=allow), [])
        self.assertEqual(self.taken(self.ANONYMOUS, -100777, owner="1087968824"), [])


if __name__ == "__main__":
    unittest.main()
