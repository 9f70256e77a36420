"""Workflow documents from disk: YAML or JSON, validated; built-in ones by name."""

from hashlib import sha256
from pathlib import Path

import yaml
from pydantic import ValidationError

from foundry.errors import WorkflowError
from foundry.schema.workflow import Workflow

BUILTIN = Path(__file__).parent / "builtin"


def builtin(name: str) -> Workflow:
    """A workflow that ships with Foundry."""
    return load(BUILTIN / f"{name}.yaml")


def load(path: Path) -> Workflow:
    """Read and validate a document; raises WorkflowError that names file, field and reason."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkflowError(f"cannot read {path}: {error.strerror}") from error
    try:
        return Workflow.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise WorkflowError(f"{path} is not valid YAML: {error}") from error
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}"
            for each in error.errors(include_url=False, include_context=False)
        ]
        raise WorkflowError(f"{path} is not a valid workflow: " + "; ".join(lines)) from error


def fingerprint(workflow: Workflow) -> str:
    """A hash of what a workflow does, to notice that it changed under a run."""
    return sha256(workflow.model_dump_json().encode()).hexdigest()[:16]
