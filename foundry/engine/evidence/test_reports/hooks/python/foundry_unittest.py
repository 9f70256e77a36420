"""Writes down what unittest's suites ran, whichever runner was given them."""

import functools
import os
import sys

from foundry_lines import SESSION, Lines

OUTCOMES = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "error",
    "addSkip": "skipped",
    "addExpectedFailure": "xfailed",
    "addUnexpectedSuccess": "failed",
}


def install(suite_module):
    """Watch the outermost call of a suite: that is what a runner runs."""
    suite = suite_module.BaseTestSuite
    original = suite.__call__

    @functools.wraps(original)
    def call(self, *args, **kwargs):
        session = None
        if not os.environ.get(SESSION):
            try:
                session = _Session(self, args[0] if args else kwargs["result"])
            except Exception:
                pass
        if session is None:
            return original(self, *args, **kwargs)
        try:
            result = original(self, *args, **kwargs)
            session.end()
            return result
        finally:
            session.close()

    suite.__call__ = call


class _Session:
    """One run of a suite, seen through the methods of its result."""

    def __init__(self, suite, result):
        self.lines = Lines()
        self.collected = suite.countTestCases()
        self.result = result
        self.names = []
        self.here = os.getcwd()
        os.environ[SESSION] = "unittest"
        self.lines.write(e="session", runner="unittest", at=self.here)
        for name in (*OUTCOMES, "addSubTest"):
            if callable(getattr(result, name, None)):
                setattr(result, name, self.noting(name, getattr(result, name)))
                self.names.append(name)

    def noting(self, name, method):
        @functools.wraps(method)
        def add(test, *args, **kwargs):
            try:
                self.note(name, test, args)
            except Exception:
                pass
            return method(test, *args, **kwargs)

        return add

    def note(self, name, test, args):
        outcome = OUTCOMES.get(name)
        if outcome is None:  # a part of a test, with its error or None
            error = args[1]
            if error is None:
                return
            failed = issubclass(error[0], test.failureException)
            outcome = "failed" if failed else "error"
        self.lines.write(e="test", id=self.id(test), o=outcome)

    def id(self, test):
        """The test's own id; of a script, with the script's name."""
        name = str(test.id())
        if name.startswith("__main__."):
            script = getattr(sys.modules["__main__"], "__file__", None) or "__main__"
            name = os.path.relpath(script, self.here) + name[len("__main__") :]
        return name

    def end(self):
        self.lines.write(e="end", collected=self.collected, deselected=0)

    def close(self):
        os.environ.pop(SESSION, None)
        for name in self.names:
            try:
                delattr(self.result, name)
            except AttributeError:
                pass
