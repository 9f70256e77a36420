"""Writes down what pytest ran, xdist's workers included."""

import os

from _pytest.config import hookimpl
from foundry_lines import SESSION, Lines


def install(config_module):
    """Register the plugin with every configuration: no option or variable misses it."""
    original = config_module.get_config

    def get_config(*args, **kwargs):
        config = original(*args, **kwargs)
        try:
            _register(config.pluginmanager)
        except Exception:
            pass
        return config

    config_module.get_config = get_config


def _register(plugins):
    if os.environ.get("PYTEST_XDIST_WORKER"):
        plugins.register(_Raw())
        plugins.register(_Worker())
    elif not os.environ.get(SESSION):
        plugins.register(_Raw())
        plugins.register(_Session())


class _Raw:
    """Marks a report with what really happened, where a project's hooks made a pass of it."""

    @hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call):
        raised = call.excinfo is not None
        result = yield
        if result.excinfo is None:
            report = result.get_result()
            if raised and getattr(report, "outcome", "") == "passed":
                report.foundry_outcome = "failed"


class _Worker:
    """xdist's worker tells its controller what only it knows."""

    def __init__(self):
        self.deselected = 0

    def pytest_deselected(self, items):
        self.deselected += len(items)

    @hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        told = getattr(session.config, "workeroutput", None)
        if told is not None:
            told["foundry_deselected"] = self.deselected


class _Session:
    """A session as its controller sees it."""

    def __init__(self):
        self.lines = None
        self.collected = None
        self.deselected = 0
        self.phases = {}

    @hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        if not os.environ.get(SESSION):
            os.environ[SESSION] = "pytest"
            self.lines = Lines()
            root = getattr(session.config, "rootpath", None) or session.config.rootdir
            self.lines.write(e="session", runner="pytest", at=str(root))

    def pytest_deselected(self, items):
        self.deselected += len(items)

    @hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        self.collected = len(getattr(session, "items", ())) or self.collected

    @hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.collected = len(ids)

    @hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        told = getattr(node, "workeroutput", {}).get("foundry_deselected", 0)
        self.deselected = max(self.deselected, told)

    @hookimpl(tryfirst=True)
    def pytest_collectreport(self, report):
        if self.lines and report.outcome != "passed":
            outcome = "error" if report.outcome == "failed" else "skipped"
            self.lines.write(e="test", id=report.nodeid, o=outcome)

    @hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if report.outcome in ("passed", "failed", "skipped"):  # not: "rerun"
            self.phases.setdefault(report.nodeid, []).append(_outcome(report))

    @hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid):
        self.note(nodeid)  # not earlier: a fixture may have replaced the file system

    @hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        for nodeid in list(self.phases):  # of a worker that crashed
            self.note(nodeid)
        if self.lines:
            self.lines.write(e="end", collected=self.collected, deselected=self.deselected)
            os.environ.pop(SESSION, None)

    def note(self, nodeid):
        """Write what the phases of a test amount to; without its call it did not run."""
        phases = self.phases.pop(nodeid, ())
        for outcome in ("failed", "error", "xfailed", "skipped", "passed"):
            if self.lines and outcome in phases:
                self.lines.write(e="test", id=nodeid, o=outcome)
                return


def _outcome(report):
    outcome = getattr(report, "foundry_outcome", report.outcome)
    if outcome == "skipped":
        return "xfailed" if hasattr(report, "wasxfail") else "skipped"
    if outcome == "failed":
        return "failed" if report.when == "call" else "error"
    return "passed" if report.when == "call" else ""
