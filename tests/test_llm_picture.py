# A picture in a request: base64 from flash, in both wire formats.
import json
import unittest
from binascii import a2b_base64

from llm_fakes import HISTORY, Candidate, Request
from support import temp_folder
from tenner.agent.history_lines import record
from tenner.llm import chat_completions, messages

QUESTION = b'["u","[a photo]\\nIs this \\"leaf\\" sick?"]\n'
TEXT = '[a photo]\nIs this "leaf" sick?'
ROUND = (b'["a",""]\n', b'["c","1","list",{}]\n', b'["t","1","none"]\n')


class TestPicture(unittest.TestCase):
    def image(self, size, name='in "quotes".tmp'):
        """Return (bytes, the record of a picture with them)."""
        path = "%s/%s" % (temp_folder(self), name)
        data = bytes([one * 7 & 0xFF for one in range(size)])
        with open(path, "wb") as file:
            file.write(data)
        return data, record("i", path, "image/png")

    def chat(self, lines):
        body = b"".join(chat_completions.body(Candidate(), Request(lines)))
        return json.loads(body.decode())["messages"][1:]

    def messages(self, lines):
        body = b"".join(messages.body(Candidate(api="messages"), Request(lines)))
        return json.loads(body.decode())["messages"]

    def check_chat(self, message, data):
        self.assertEqual(message["role"], "user")
        picture, text = message["content"]
        self.assertEqual((picture["type"], text), ("image_url", {"type": "text", "text": TEXT}))
        url = picture["image_url"]["url"]
        self.assertEqual(url[:22], "data:image/png;base64,")
        self.assertEqual(a2b_base64(url[22:]), data)

    def check_messages(self, blocks, data):
        picture, text = blocks
        self.assertEqual(text, {"type": "text", "text": TEXT})
        self.assertEqual(picture["type"], "image")
        source = picture["source"]
        self.assertEqual((source["type"], source["media_type"]), ("base64", "image/png"))
        self.assertEqual(a2b_base64(source["data"]), data)

    def test_every_length_around_a_block(self):
        for size in (1, 2, 3, 4, 383, 384, 385, 767, 768, 769, 5000):
            data, image = self.image(size)
            (message,) = self.chat((image, QUESTION))
            self.check_chat(message, data)
            (message,) = self.messages((image, QUESTION))
            self.assertEqual(message["role"], "user")
            self.check_messages(message["content"], data)

    def test_after_a_history_and_before_rounds_of_tools(self):
        data, image = self.image(1000)
        before = HISTORY[:-1]
        lines = before + (image, QUESTION) + ROUND + (b'["n","Keep on."]\n',)
        found = self.chat(lines)
        roles = [one["role"] for one in found]
        self.assertEqual(roles[-4:], ["user", "assistant", "tool", "user"])
        self.check_chat(found[-4], data)
        self.assertEqual(found[:-4], self.chat(before))
        self.assertEqual(found[-1]["content"], "Keep on.")
        found = self.messages(lines)
        self.check_messages(found[-3]["content"], data)
        self.assertEqual([one["role"] for one in found[-3:]], ["user", "assistant", "user"])
        self.assertEqual(found[:-3], self.messages(before))

    def test_after_a_summary_the_roles_alternate(self):
        data, image = self.image(10)
        lines = (b'["s","They like tea."]\n', image, QUESTION)
        summary, noted, message = self.chat(lines)
        self.assertEqual(summary, {"role": "user", "content": "They like tea."})
        self.assertEqual(noted["role"], "assistant")
        self.check_chat(message, data)
        (message,) = self.messages(lines)
        self.assertEqual(message["content"][0], {"type": "text", "text": "They like tea."})
        self.check_messages(message["content"][1:], data)

    def test_a_request_may_be_made_twice(self):
        _, image = self.image(3000)
        for wire, api in ((chat_completions, "chat"), (messages, "messages")):
            request = Request((image, QUESTION))
            passes = [b"".join(wire.body(Candidate(api=api), request)) for _ in range(2)]
            self.assertEqual(passes[0], passes[1])

    def test_a_request_is_never_whole_in_memory(self):
        _, image = self.image(9000)
        for wire, api in ((chat_completions, "chat"), (messages, "messages")):
            request = Request((image, QUESTION))
            longest = max([len(piece) for piece in wire.body(Candidate(api=api), request)])
            self.assertTrue(longest <= 512, longest)


if __name__ == "__main__":
    unittest.main()
