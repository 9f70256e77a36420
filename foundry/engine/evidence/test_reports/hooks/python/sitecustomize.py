"""Lets pytest and unittest note what they ran. On PYTHONPATH while the harness runs a check.

Every Python program of the check starts with this file: it imports nothing that is not loaded
already, waits for the runners to be imported, prints nothing, and fails silently. The project's
interpreter runs it, so it keeps to Python 3.8. Lines are written as `lines.py` says.
"""

import os
import sys

RUNNERS = ("_pytest.config", "unittest.suite")
ASKING = {"--version", "-V", "-VV", "--help", "-h", "--fixtures", "--markers", "--cache-show"}


class _Watch:
    """Finds the runners' modules as usual, and hooks them when they have been loaded."""

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name not in RUNNERS:
            return None
        spec = self.finder.find_spec(name, path, target)
        try:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                _hook(name, module)

            spec.loader.exec_module = exec_module
        except Exception:  # the runner loads as if this were not here
            _unhooked(name)
        return spec


def _hook(name, module):
    try:
        if name == "unittest.suite":
            import foundry_unittest as hook
        else:
            import foundry_pytest as hook
        hook.install(module)
    except Exception:
        _unhooked(name)


def _unhooked(name):
    """Say that the runner is a real one although no session of it will be seen."""
    try:
        from foundry_lines import Lines

        Lines().write(e="unhooked", runner="unittest" if "unittest" in name else "pytest")
    except Exception:
        pass


def _started():
    """Note that this process was called as a runner, in case no runner is what it turns out as."""
    words = getattr(sys, "orig_argv", ())  # Python 3.10
    if os.environ.get("FOUNDRY_TEST_SESSION") or ASKING.intersection(words):
        return
    for index, word in enumerate(words[1:], 1):
        if word == "-m" or not word.startswith("-"):
            runner = words[index + 1] if word == "-m" else os.path.basename(word)
            if runner in ("pytest", "py.test") or (word, runner) == ("-m", "unittest"):
                from foundry_lines import Lines

                Lines().write(e="started", runner=runner.replace(".", ""))
            return


def _watch():
    if os.environ.get("FOUNDRY_TEST_REPORTS"):
        from _frozen_importlib_external import PathFinder

        sys.meta_path.insert(0, _Watch(PathFinder))
        _started()


def _chain():
    """Run the sitecustomize that this one stands before."""
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    here = os.path.realpath(os.path.dirname(__file__))
    path = [entry for entry in sys.path if os.path.realpath(entry) != here]
    spec = PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


try:
    _watch()
except Exception:
    pass
_chain()
