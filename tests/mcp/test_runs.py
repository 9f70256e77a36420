"""Builds over MCP: status and artifacts of what this home knows, and nothing else of the disk."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from foundry.mcp import runs
from foundry.mcp.messages import Refusal
from foundry.report import artifacts as shelf
from foundry.report.status import status_of
from tests.support.builds import Built, environment_of, git, serve
from tests.support.mcp_clients import Call, in_process
from tests.support.rehearsals import SmallBuild


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Built, dict[str, str]]]:
    """A build, and the environment that it was made in."""
    folder = tmp_path_factory.mktemp("runs")
    env = environment_of(folder)
    with pytest.MonkeyPatch.context() as patch, serve(SmallBuild()) as server:
        for name, value in env.items():
            patch.setenv(name, value)
        built = Built.start(server, folder / "project")
    yield built, env


@pytest.fixture
def seen(shared: tuple[Built, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Built:
    """A build to look at; whoever changes it makes one of their own."""
    built, env = shared
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return built


@pytest.fixture
def built(build: Any) -> Built:
    done: Built = build(SmallBuild())
    return done


def run_of(built: Built) -> str:
    return status_of(built.project).run


def resources(call: Call) -> dict[str, Any]:
    client, portal = call.client, call.portal  # type: ignore[attr-defined]
    return {each.uri: each for each in portal.call(client.list_resources).resources}


def read(call: Call, uri: str) -> Any:
    (contents,) = call.portal.call(call.client.read_resource, uri).contents  # type: ignore[attr-defined]
    return contents


def test_status_and_artifacts_of_a_build(seen: Built) -> None:
    run, root = run_of(seen), seen.project.root
    wanted = json.loads(status_of(seen.project).model_dump_json())
    with in_process() as call:
        for arguments in ({"run": run}, {"folder": str(root)}):
            assert call("build_status", **arguments) == wanted
        listed = resources(call)
        names = [item.name for item in shelf.items(seen.project)]
        assert set(listed) == {
            f"foundry://runs/{run}/artifacts/{quote(name, safe='')}" for name in names
        }
        for uri, resource in listed.items():
            path = seen.project.folder / resource.name
            assert read(call, uri).text == path.read_text()
            assert resource.size == path.stat().st_size
        assert listed[f"foundry://runs/{run}/artifacts/tasks.json"].mime_type == "application/json"
        assert read(call, f"foundry://runs/{run}/artifacts/scout-report.md").mime_type == (
            "text/markdown"
        )


def test_what_may_be_seen(seen: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of this home and the one of the current folder; no other folder."""
    run, root = run_of(seen), seen.project.root
    strange = tmp_path / "strange"
    shutil.copytree(root, strange)
    with pytest.raises(Refusal) as refused:
        runs.status(None, str(strange))
    assert refused.value.code == "unknown-run"
    assert run in refused.value.hint
    monkeypatch.setenv("FOUNDRY_HOME", str(tmp_path / "of another machine"))
    assert runs.known() == ()
    monkeypatch.chdir(root)
    assert [each.id for each in runs.known()] == [run]
    assert runs.status(None, None).run == run
    assert runs.status(run, None).run == run


def test_only_names_that_a_run_has_lead_anywhere(built: Built) -> None:
    run = run_of(built)
    (built.project.folder / "link.md").symlink_to(built.project.root / "hello-1.txt")
    (built.project.folder / "folder").symlink_to(built.project.root)
    base = f"foundry://runs/{run}/artifacts"
    with in_process() as call:
        for uri in (
            f"{base}/../journal.jsonl",
            f"{base}/..%2Fhello-1.txt",
            f"{base}/%2Fetc%2Fpasswd",
            f"{base}//etc/passwd",
            f"{base}/local/lock",
            f"{base}/.gitignore",
            f"{base}/link.md",
            f"{base}/folder/hello-1.txt",
            f"{base}/scout-report.md%00",
            f"{base}/",
            f"foundry://runs/..%2F{run}/artifacts/tasks.json",
            "foundry://runs/nobody/artifacts/tasks.json",
            "file:///etc/passwd",
            "nonsense",
        ):
            with pytest.raises(MCPError) as refused:
                read(call, uri)
            error = refused.value.error
            assert error.code == -32602
            assert error.data["uri"] == uri
            assert error.data["error"]["hint"]


def test_an_earlier_run_keeps_its_artifacts_when_a_later_one_is_merged(
    built: Built, build: Any
) -> None:
    first = run_of(built)
    root = built.project.root
    texts = {each.name: each.path.read_text() for each in runs.artifacts(runs.known()[0])}
    later: Built = build(SmallBuild(), folder=root)
    second = run_of(later)
    assert {each.id for each in runs.known()} == {first, second}
    git(root, "merge", "--quiet", f"foundry/{second}")
    known = {each.id: each for each in runs.known()}
    assert not known[first].current
    found = {each.name: each for each in runs.artifacts(known[first])}
    assert set(found) <= set(texts)
    assert {"tasks.json", "journal.jsonl", "scout-report.md"} <= set(found)
    for name, each in found.items():
        assert each.path.read_text() == texts[name]
        assert runs.artifact(each.uri) == each
    assert all("history" not in each.name for each in runs.artifacts(known[second]))
    with pytest.raises(Refusal) as refused:
        runs.status(first, None)
    assert refused.value.code == "run-is-over"
    assert runs.status(second, None).run == second


def test_a_run_whose_folder_is_gone_is_not_listed(built: Built) -> None:
    shutil.rmtree(built.project.root)
    assert runs.known() == ()
    with in_process() as call:
        assert resources(call) == {}
        assert call("build_status")["error"]["hint"]
        assert call("build_status", run="20260101-000000-abcd")["error"]["code"] == "unknown-run"


def test_ids_and_names_are_completed(seen: Built) -> None:
    import mcp_types as types

    run = run_of(seen)
    template = types.ResourceTemplateReference(type="ref/resource", uri=runs.TEMPLATE)
    with in_process() as call:
        client, portal = call.client, call.portal  # type: ignore[attr-defined]
        (listed,) = portal.call(client.list_resource_templates).resource_templates
        assert listed.uri_template == runs.TEMPLATE

        def complete(name: str, value: str, given: dict[str, str] | None = None) -> list[str]:
            argument = {"name": name, "value": value}
            result = portal.call(client.complete, template, argument, given)
            values: list[str] = result.completion.values
            return values

        assert complete("run", run[:3]) == [run]
        assert complete("run", "nobody") == []
        assert complete("name", "scout", {"run": run}) == ["scout-report.md"]
        assert complete("name", "scout") == []
