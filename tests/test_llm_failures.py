# tenner tests: the table of failures of model servers, in their own words (llm_failures.json),
# with the result of each. MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import unittest

from llm_fakes import Candidate, Http, Request, Response
from support import run
from tenner.llm import failure, quirks
from tenner.llm.client import complete
from tenner.llm.errors import LlmError

#: The names of failures without a status number.
ERRORS = {"deadline": asyncio.TimeoutError(), "eof": EOFError("cut")}


def rows():
    """Yield the rows, a line each: the whole is more than a small heap holds."""
    with open(__file__.rsplit("/", 1)[0] + "/llm_failures.json") as file:
        for line in file:
            if len(line) > 3:
                yield json.loads(line.rstrip().rstrip(","))


def failed(row):
    """Return the LlmError that comes of a row."""
    if "status" in row:
        body = row["body"].encode()
        answer = Response([body] if body else [b""], row["status"], row.get("headers"))
    else:
        answer = row["error"]
        if isinstance(answer, int):
            answer = OSError(answer)
        else:
            answer = ERRORS.get(answer) or ValueError(answer)
    try:
        run(complete(Http(answer), Candidate(model="m"), Request(), 60))
    except LlmError as error:
        return error
    raise AssertionError("it did not fail")


def retry(error):
    """Say when the same model is asked again."""
    if error.kind == "context_overflow":
        return "with less history"
    wait_s = failure.pause_s(error)
    return "no" if wait_s is None else "once, after %d s" % wait_s


class TestFailures(unittest.TestCase):
    def test_each_failure_is_known_and_says_what_to_do(self):
        wrong = []
        for row in rows():
            error = failed(row)
            found = (error.kind, retry(error))
            if found != (row["class"], row["retry"]) or row["says"] not in str(error):
                wrong.append((row["by"], row["class"], found, str(error)))
        self.assertEqual(wrong, [])

    def test_only_a_wrong_format_sends_the_owner_to_api(self):
        for row in rows():
            if row["says"] != "check api in config.json":
                self.assertFalse("check api in" in str(failed(row)), row)

    def test_every_size_of_a_context_is_read(self):
        for row in rows():
            if row["class"] == "context_overflow" and row["body"][:1] != "<":
                named = [c for c in row["says"] if c.isdigit()]
                found = quirks.context_tokens(row["body"])
                self.assertEqual(found, int("".join(named) or "0"), row)

    def test_a_tls_server_that_is_asked_without_tls_is_recognized(self):
        for answer in (b"\x15\x03\x01\x00\x02\x02\x46", b"\x15\x03\x03\x00\x02\x02\x16"):
            http = Http(EOFError("cut"))
            http.buffer = bytearray(answer + b"\0" * 20)
            http.end = len(answer)
            with self.assertRaises(LlmError) as caught:
                run(complete(http, Candidate(base_url="http://x/v1"), Request(), 5))
            self.assertTrue("write https://" in str(caught.exception), caught.exception)

    def test_a_model_that_is_not_set_is_named_by_its_setting(self):
        with self.assertRaises(LlmError) as caught:
            run(complete(Http(OSError(-2)), Candidate(model=""), Request(), 5))
        self.assertTrue(
            str(caught.exception).startswith("the model (none is set: llm.model) at "),
            caught.exception,
        )


if __name__ == "__main__":
    unittest.main()
