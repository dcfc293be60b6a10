import os
import unittest
from hashlib import sha256

import update_fakes as fakes
from tenner.update import manifest
from tenner.update.manifest import Manifest, Refused, is_safe

DIGEST = sha256(b"x").digest()
HASH = "0" * 64


def refusal(data, keys=fakes.KEY, family="esp32", running="0.1.0"):
    """Return the sentence with which a board refuses a manifest; None if it takes it."""
    with fakes.Board(keys) as root:
        try:
            Manifest(data, root).check(family, running)
        except Refused as error:
            return error.args[0]
    return None


class TestSignature(unittest.TestCase):
    def test_the_right_one_is_valid_and_any_other_bit_is_not(self):
        signed = fakes.raw_sign(fakes.block(DIGEST))
        self.assertTrue(manifest.is_valid(fakes.MODULUS, signed, DIGEST))
        for place in (0, 1, 100, 255):
            wrong = bytearray(signed)
            wrong[place] ^= 1
            self.assertFalse(manifest.is_valid(fakes.MODULUS, bytes(wrong), DIGEST))
        self.assertFalse(manifest.is_valid(fakes.MODULUS, signed, sha256(b"y").digest()))

    def test_a_block_with_another_shape_is_no_signature(self):
        right = fakes.block(DIGEST)
        short = b"\x00\x01" + b"\xff" * 8 + b"\x00" + fakes.PREFIX + DIGEST
        for wrong in (
            short + b"\x00" * (256 - len(short)),  # a lax parser of the padding takes it
            b"\x00\x02" + right[2:],
            fakes.block(DIGEST, prefix=fakes.PREFIX[:14] + b"\x04" + fakes.PREFIX[15:]),
            fakes.block(DIGEST, prefix=b""),
            right[:10] + b"\x00" + right[11:],
        ):
            self.assertEqual(len(wrong), 256)
            signed = fakes.raw_sign(wrong)
            self.assertFalse(manifest.is_valid(fakes.MODULUS, signed, DIGEST))

    def test_numbers_out_of_range_and_other_lengths(self):
        modulus = int(fakes.MODULUS, 16)
        signed = fakes.raw_sign(fakes.block(DIGEST))
        for wrong in (
            b"",
            b"\x00" * 256,
            b"\x00" * 255 + b"\x01",
            signed[:-1],
            b"\x00" + signed,
            modulus.to_bytes(256, "big"),
            b"\xff" * 256,
        ):
            self.assertFalse(manifest.is_valid(fakes.MODULUS, wrong, DIGEST))
        # A key of 1024 bits is too short.
        self.assertFalse(manifest.is_valid(fakes.MODULUS[:256], signed[:128], DIGEST))


class TestManifest(unittest.TestCase):
    def test_a_good_one(self):
        data = fakes.sign(fakes.lines())
        self.assertIsNone(refusal(data))
        with fakes.Board("rsa ff\n\n" + fakes.KEY) as root:
            found = Manifest(data, root)
        self.assertEqual((found.version, found.notes), ("0.9.0", "Tested."))
        self.assertEqual([one[:2] for one in found.files], [(p, len(d)) for p, d in fakes.FILES])
        self.assertEqual(found.total(), len(fakes.content()))

    def test_who_signed_it(self):
        good = fakes.sign(fakes.lines())
        self.assertIn("has no key to check a release with", refusal(good, keys=None))
        other = "rsa " + fakes.MODULUS[:-1] + "0\n"
        self.assertIn("which this board does not know", refusal(good, keys=other))
        # The id of the board's key with the signature of another one.
        forged = bytearray(good)
        forged[-10] ^= 1
        self.assertIn("signature is wrong", refusal(bytes(forged)))
        changed = good.replace(b"Tested.", b"Testes.")
        self.assertIn("signature is wrong", refusal(changed))

    def test_not_signed_or_cut(self):
        lines = fakes.lines()
        good = fakes.sign(lines)
        for data in (lines, good[:-1], lines + b"signature\n", lines + b"signature a b c\n"):
            self.assertIn("is not signed", refusal(data))
        for data in (b"", b"<html>", good[1:], b"\n" + good):
            self.assertIn("no release of tenner", refusal(data))

    def test_no_bit_may_change(self):
        good = fakes.sign(fakes.lines())
        for place in range(0, len(good), 37):
            wrong = bytearray(good)
            wrong[place] ^= 4
            self.assertTrue(refusal(bytes(wrong)), place)

    def test_what_does_not_fit_this_board(self):
        for fields, sentence in (
            ({"version": "0.1.0"}, "the release is 0.1.0, and 0.1.0 runs: only a newer one"),
            ({"version": "0.0.9"}, "the release is 0.0.9, and 0.1.0 runs: only a newer one"),
            ({"version": "0.2"}, "three numbers, not 0.2"),
            ({"version": "0.2.x"}, "has x where a number belongs"),
            ({"version": "0.2.99999"}, "has 99999 where a number belongs"),
            ({"family": "rp2"}, "is for rp2, this board is esp32"),
            ({"start": "2"}, "needs a newer boot.py"),
            ({"start": "-1"}, "where a number belongs"),
            ({"from_": "0.2.0"}, "replaces 0.2.0 and newer, and 0.1.0 runs"),
        ):
            self.assertIn(sentence, refusal(fakes.sign(fakes.lines(**fields))) or "taken")
        self.assertIsNone(refusal(fakes.sign(fakes.lines(version="0.10.0")), running="0.9.1"))

    def test_another_bytecode(self):
        import sys

        if hasattr(sys.implementation, "_mpy"):
            found = refusal(fakes.sign(fakes.lines(mpy="5")))
            self.assertIn("has .mpy version 5, this MicroPython loads 6", found)

    def test_micropython_itself(self):
        line = "micropython 1659184 %s 5 ESP32-C3 1.27.0" % HASH
        data = fakes.sign(fakes.lines(extra=(line,)))
        with fakes.Board() as root:
            found = Manifest(data, root)
        self.assertEqual(found.micropython, ["5", "ESP32-C3", "1.27.0"])
        self.assertEqual(found.files[-1], ("", 1659184, bytes(32)))
        self.assertEqual(found.total(), 1659184 + len(fakes.content()))
        # Its own bytecode counts, not that of the running one.
        self.assertIsNone(refusal(fakes.sign(fakes.lines(extra=(line,), mpy="7"))))
        for extra in (
            (line, line),
            (line, "file 1 %s zz" % HASH),
            (line + " more",),
            (line.replace("1659184", "16591840"),),
            (line.replace("1659184", "-1"),),
            (line.replace(HASH, HASH[2:]),),
            (line.replace("5 ESP32-C3", "5"),),
        ):
            self.assertIsNotNone(refusal(fakes.sign(fakes.lines(extra=extra))), extra)

    def test_files_of_the_page_are_for_boards_that_have_it(self):
        of_page = (("page/app.mpy", b"p" * 7), ("page/page.pack", b"q" * 9))
        app, x, z = fakes.FILES
        line = "micropython 5 %s 5 ESP32-C3 1.27.0" % HASH
        data = fakes.sign(fakes.lines((app,) + of_page + (x, z)))
        last = fakes.sign(fakes.lines((app,) + of_page))
        before = fakes.sign(fakes.lines((("page/z.tsv", b"new"), z)))
        image = fakes.sign(fakes.lines((app,) + of_page, (line,)))
        with fakes.Board() as root:

            def found(data):
                return [one[:2] for one in Manifest(data, root).files]

            size = len(app[1])
            self.assertEqual(
                found(data),
                [("app.mpy", size), (None, 7), (None, 9), ("port/x.mpy", 3), ("z.tsv", 2)],
            )
            self.assertEqual(found(last), [("app.mpy", size)])
            self.assertEqual(found(before), [(None, 3), ("z.tsv", 2)])
            self.assertEqual(found(image)[1:], [(None, 7), (None, 9), ("", 5)])
            os.mkdir(root + "/lib/tenner")
            with open(root + "/lib/tenner/page.pack", "w"):
                pass
            rest = [("port/x.mpy", 3), ("z.tsv", 2)]
            self.assertEqual(found(data), [(None, size), ("app.mpy", 7), ("page.pack", 9)] + rest)
            self.assertEqual(found(before), [("z.tsv", 3)])
            self.assertEqual(found(image)[1:], [("app.mpy", 7), ("page.pack", 9), ("", 5)])

    def test_a_signed_manifest_is_not_believed_blindly(self):
        for line, sentence in (
            ("file 1 %s ../config.json" % HASH, "a place where it must not write"),
            ("file 1 %s /config.json" % HASH, "a place where it must not write"),
            ("file 1 %s zz/../../x" % HASH, "a place where it must not write"),
            ("file 1 %s pins.csv" % HASH, "a place where it must not write"),
            ("file 1 %s manifest" % HASH, "a place where it must not write"),
            ("file 1 %s page/pins.csv" % HASH, "a place where it must not write"),
            ("file 1 %s page/../../x" % HASH, "a place where it must not write"),
            ("file 10000000000 %s zz" % HASH, "says that zz has 10000000000 bytes"),
            ("file 1048577 %s zz" % HASH, "says that zz has 1048577 bytes"),
            ("file -1 %s zz" % HASH, "says that zz has -1 bytes"),
            ("file  %s zz" % HASH, "says that zz has  bytes"),
            ("file 1 %s zz" % HASH[:-2], "no SHA-256 of zz"),
            ("file 1 %s zz" % ("x" * 64), "no SHA-256 of zz"),
            ("file 1 %s app.mpy" % HASH, "not in order at app.mpy"),
            ("file 1 %s z.tsv" % HASH, "not in order at z.tsv"),
            ("link 1 %s zz" % HASH, "which is no file"),
            ("", "which is no file"),
        ):
            self.assertIn(sentence, refusal(fakes.sign(fakes.lines(extra=[line]))) or "taken")
        self.assertIn("has 0 files", refusal(fakes.sign(fakes.lines(files=()))))
        many = [("f%03d" % number, b"") for number in range(65)]
        self.assertIn("has 65 files", refusal(fakes.sign(fakes.lines(files=many))))
        missing = fakes.lines().replace(b"start 1\n", b"")
        self.assertIn("no line start", refusal(fakes.sign(missing)))

    def test_paths(self):
        for path in ("a", "a.mpy", "a/b_1.mpy", "a/b/c"):
            self.assertTrue(is_safe(path), path)
        for path in (
            "",
            "/a",
            "a/",
            "a//b",
            "..",
            ".",
            "a/..",
            ".a",
            "a\\b",
            "A",
            "a b",
            "ä",
            "a" * 65,
        ):
            self.assertFalse(is_safe(path), path)


if __name__ == "__main__":
    unittest.main()
