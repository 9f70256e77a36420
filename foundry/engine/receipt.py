"""What a run leaves for those who doubt it: its evidence, a signature over that, a script."""

from foundry import __version__
from foundry.engine.run import Run
from foundry.engine.summary import evidence
from foundry.engine.verify_script import script
from foundry.errors import FoundryError
from foundry.schema.events import Note
from foundry.schema.plan import Checks
from foundry.schema.run import Status
from foundry.store import journal, signature
from foundry.store.artifacts import read_checks, read_plan, to_json
from foundry.store.git.trees import remove_tree
from foundry.store.project import EVIDENCE, SIGNATURE, VERIFY


def receipt(run: Run, status: Status) -> dict[str, str]:
    """The artifacts by name, for a run that is about to end so.

    The signature of an earlier ending is removed: what is signed is the evidence, which names the
    line and the commit before it, and so all that the chain holds. (The last line can't be signed
    itself: it names the tree in which the signature lies.)
    """
    proof = evidence(run.facts(), status).model_copy(
        update={
            "chain": journal.tip(run.project.journal),
            "follows": run.head,
            "foundry": __version__,
        }
    )
    remove_tree(run.project.artifact(SIGNATURE))
    text = to_json(proof)
    checks = (read_checks(run.project) or Checks()).also(run.facts().start.checks)
    files = {EVIDENCE: text, VERIFY: script(proof, checks, read_plan(run.project))}
    if status.over and (signed := _signed(run, text)):
        files[SIGNATURE] = signed
    return files


def _signed(run: Run, text: str) -> str:
    """The person's signature, where they sign with ssh; one that fails never ends a run."""
    try:
        signer = signature.signer(run.project.root)
        return signature.sign(text, signer) if signer.key else ""
    except FoundryError as error:
        run.observe(Note(f"the evidence is not signed: {error}"))
        return ""
