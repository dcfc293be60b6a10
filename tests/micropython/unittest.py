# tenner test runner for MicroPython: the part of `unittest` that the tests use.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Tests are written for CPython's unittest; this module stands in for it under MicroPython.

Looked for before it was written: the package index has `micropython-unittest` 0.4 of 2018, whose
archive pip cannot install and which knows no `setUpClass`, `SkipTest` reasons or name filter;
Debian packages none; the one in micropython-lib is not on any index and its `main()` exits 0 when
tests fail. A runner whose exit status cannot be trusted is worse than none, hence these lines.

`main()` prints `N passed, N failed, N skipped` and exits non-zero when a test failed or none was
found.
"""

import sys

try:
    # Tests import from anywhere, and the stack is short.
    import tenner.runtime.preload  # noqa: F401
except ImportError:
    pass  # a test of something else


class SkipTest(Exception):
    pass


def skip(reason):
    """Decorator for a test or a class that must not run here."""

    def decorate(thing):
        if isinstance(thing, type):
            thing.skip_reason = reason
            return thing

        def skipped(self):
            raise SkipTest(reason)

        return skipped

    return decorate


def skipIf(condition, reason):
    return skip(reason) if condition else lambda thing: thing


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


def expectedFailure(test):
    def inverted(self):
        try:
            test(self)
        except Exception:
            return
        raise AssertionError("expected a failure, but the test passed")

    return inverted


def _short(value, limit=600):
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + " ... (%d characters)" % len(text)


class _Raises:
    """The result of `assertRaises` without a callable: a context manager with `.exception`."""

    def __init__(self, case, expected, pattern=None, msg=None):
        self._case = case
        self._expected = expected
        self._pattern = pattern
        self._msg = msg
        self.exception = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        if kind is None:
            self._case.fail(self._msg or "%r not raised" % (self._expected,))
        if not issubclass(kind, self._expected):
            return False
        self.exception = value
        if self._pattern is not None:
            import re

            if not re.search(self._pattern, str(value)):
                self._case.fail("%r does not match %r" % (self._pattern, str(value)))
        return True


class _SubTest:
    """A failure inside is recorded with its parameters and the test goes on."""

    def __init__(self, case, msg, params):
        self._case = case
        self._label = "%s%s" % ("" if msg is None else "[%s] " % msg, _short(params))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        if kind is None or not issubclass(kind, Exception):
            return False
        if issubclass(kind, SkipTest):
            return True
        self._case.sub_failures.append((self._label, value))
        return True


class TestCase:
    skip_reason = None
    failureException = AssertionError

    def __init__(self):
        self.sub_failures = []
        self._cleanups = []

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def addCleanup(self, function, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            function(*args, **kwargs)

    def subTest(self, msg=None, **params):
        return _SubTest(self, msg, params)

    def skipTest(self, reason):
        raise SkipTest(reason)

    def fail(self, msg=None):
        raise AssertionError(msg or "failed")

    def _check(self, good, msg, what, *values):
        if not good:
            text = what % tuple(_short(value) for value in values)
            raise AssertionError(text if msg is None else "%s : %s" % (text, msg))

    def assertEqual(self, first, second, msg=None):
        self._check(first == second, msg, "%s != %s", first, second)

    def assertNotEqual(self, first, second, msg=None):
        self._check(first != second, msg, "%s == %s", first, second)

    assertListEqual = assertEqual
    assertDictEqual = assertEqual
    assertTupleEqual = assertEqual
    assertSetEqual = assertEqual
    assertSequenceEqual = assertEqual
    assertMultiLineEqual = assertEqual

    def assertTrue(self, value, msg=None):
        self._check(value, msg, "%s is not true", value)

    def assertFalse(self, value, msg=None):
        self._check(not value, msg, "%s is not false", value)

    def assertIs(self, first, second, msg=None):
        self._check(first is second, msg, "%s is not %s", first, second)

    def assertIsNot(self, first, second, msg=None):
        self._check(first is not second, msg, "%s is %s", first, second)

    def assertIsNone(self, value, msg=None):
        self._check(value is None, msg, "%s is not None", value)

    def assertIsNotNone(self, value, msg=None):
        self._check(value is not None, msg, "unexpectedly None")

    def assertIn(self, member, container, msg=None):
        self._check(member in container, msg, "%s not found in %s", member, container)

    def assertNotIn(self, member, container, msg=None):
        self._check(member not in container, msg, "%s found in %s", member, container)

    def assertIsInstance(self, value, kind, msg=None):
        self._check(isinstance(value, kind), msg, "%s is not an instance of %s", value, kind)

    def assertNotIsInstance(self, value, kind, msg=None):
        self._check(not isinstance(value, kind), msg, "%s is an instance of %s", value, kind)

    def assertGreater(self, first, second, msg=None):
        self._check(first > second, msg, "%s is not greater than %s", first, second)

    def assertGreaterEqual(self, first, second, msg=None):
        self._check(first >= second, msg, "%s is less than %s", first, second)

    def assertLess(self, first, second, msg=None):
        self._check(first < second, msg, "%s is not less than %s", first, second)

    def assertLessEqual(self, first, second, msg=None):
        self._check(first <= second, msg, "%s is greater than %s", first, second)

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        near = first == second
        if not near:
            difference = abs(first - second)
            near = (
                difference <= delta
                if delta is not None
                else round(difference, 7 if places is None else places) == 0
            )
        self._check(near, msg, "%s is not almost %s", first, second)

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        try:
            self.assertAlmostEqual(first, second, places, None, delta)
        except AssertionError:
            return
        self._check(False, msg, "%s is almost %s", first, second)

    def assertCountEqual(self, first, second, msg=None):
        rest = list(second)
        missing = []
        for item in first:
            if item in rest:
                rest.remove(item)
            else:
                missing.append(item)
        self._check(not missing and not rest, msg, "only in first: %s, second: %s", missing, rest)

    def assertRegex(self, text, pattern, msg=None):
        import re

        self._check(re.search(pattern, text), msg, "%s not found in %s", pattern, text)

    def assertNotRegex(self, text, pattern, msg=None):
        import re

        self._check(not re.search(pattern, text), msg, "%s found in %s", pattern, text)

    def assertRaises(self, expected, function=None, *args, **kwargs):
        context = _Raises(self, expected, None, kwargs.pop("msg", None) if not function else None)
        if function is None:
            return context
        with context:
            function(*args, **kwargs)

    def assertRaisesRegex(self, expected, pattern, function=None, *args, **kwargs):
        context = _Raises(self, expected, pattern)
        if function is None:
            return context
        with context:
            function(*args, **kwargs)


class TestResult:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def wasSuccessful(self):
        return not self.failed

    def failure(self, label, exc):
        print("FAIL:", label)
        sys.print_exception(exc)


def _run_test(case, name, label, result):
    """Run one test; its failure may be reported several times (tearDown, sub-tests), but counts
    once."""
    bad = False
    skipped = None
    for step in ("setUp", name, "tearDown", "doCleanups"):
        if step == name and (bad or skipped is not None):
            continue
        if step == "tearDown" and not case.ready:
            continue
        try:
            getattr(case, step)()
            if step == "setUp":
                case.ready = True
        except SkipTest as exc:
            skipped = str(exc)
        except Exception as exc:
            bad = True
            result.failure("%s (%s)" % (label, step) if step != name else label, exc)
    for params, exc in case.sub_failures:
        bad = True
        result.failure("%s %s" % (label, params), exc)
    if bad:
        result.failed += 1
    elif skipped is not None:
        result.skipped += 1
        print("SKIP: %s: %s" % (label, skipped))
    else:
        result.passed += 1


def run_class(cls, result, wanted=None):
    """Run every test of a class whose label `Class.test` is accepted by `wanted`."""
    names = sorted({name for name in dir(cls) if name.startswith("test")})
    names = [name for name in names if callable(getattr(cls, name))]
    if wanted:
        names = [name for name in names if wanted("%s.%s" % (cls.__name__, name))]
    if not names:
        return
    if cls.skip_reason is not None:
        result.skipped += len(names)
        print("SKIP: %s: %s" % (cls.__name__, cls.skip_reason))
        return
    try:
        cls.setUpClass()
    except SkipTest as exc:
        result.skipped += len(names)
        print("SKIP: %s: %s" % (cls.__name__, exc))
        return
    except Exception as exc:
        result.failed += len(names)
        result.failure(cls.__name__ + ".setUpClass", exc)
        return
    for name in names:
        case = cls()
        case.ready = False
        _run_test(case, name, "%s.%s" % (cls.__name__, name), result)
    try:
        cls.tearDownClass()
    except Exception as exc:
        result.failed += 1
        result.failure(cls.__name__ + ".tearDownClass", exc)


def _filter(argv):
    """Names on the command line (`Class`, `Class.test`, `-k part`) as a function of the label."""
    names = []
    parts = []
    for i, arg in enumerate(argv):
        if i and argv[i - 1] == "-k":
            parts.append(arg)
        elif not arg.startswith("-"):
            names.append(arg)
    if not names and not parts:
        return None

    def wanted(label):
        return any(part in label for part in parts) or any(
            label == name or label.startswith(name + ".") for name in names
        )

    return wanted


def main(module="__main__", argv=None):
    """Run every TestCase of the module, print the counts and leave with a status that tells."""
    space = __import__(module).__dict__
    result = TestResult()
    wanted = _filter(sys.argv[1:] if argv is None else argv[1:])
    for name in sorted(space):
        cls = space[name]
        if isinstance(cls, type) and issubclass(cls, TestCase) and cls is not TestCase:
            run_class(cls, result, wanted)
    print("%d passed, %d failed, %d skipped" % (result.passed, result.failed, result.skipped))
    if not (result.passed or result.failed or result.skipped):
        print("no test was found")
        sys.exit(1)
    sys.exit(0 if result.wasSuccessful() else 1)
