"""What the closing words of a thread come to, for a model that would not call tools. Pure.

The seed's patterns matched anywhere, so that "we're good on tests, shall I proceed?" was an end.
Here a whole sentence has to say that the whole task is done, and no other may take it back: no
question, no "but", no plan, no part, no other language. What can't be read for sure says nothing: a
verification that is due too late costs an iteration, and reading between the lines costs the night.
"""

from dataclasses import dataclass
from typing import Literal

from foundry.circular.own_words import Sentence, is_heading, own_sentences
from foundry.circular.phrase_patterns import (
    AND,
    CLAIM,
    FINE,
    FOREIGN,
    HARMLESS,
    LEAD,
    MORE,
    SHARE,
    TAKES_BACK,
    WEAKENED,
    WORKED,
)

LONGEST = 8_000
"""Characters of a message that are read: a longer one is a report, and says nothing for sure."""


LONGEST_SENTENCE = 500
"""Characters of a sentence that is read; no claim and no plain report is longer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words come to, and which ones."""

    kind: Literal["done", "more", "unclear"]
    reason: str


def read_closing(text: str) -> Reading:
    """`done`: it looks done and has to be verified. `more`: it says that work is left."""
    if len(text) > LONGEST:
        return Reading("unclear", f"its last message has {len(text):,} characters and no verdict")
    sentences = own_sentences(text)
    if any(len(each.text) > LONGEST_SENTENCE for each in sentences):
        return Reading("unclear", "a sentence of it is too long to be read")
    claims = [place for place, each in enumerate(sentences) if _is_claim(each)]
    doubt = _doubt(sentences, claims)
    if claims and not doubt:
        return Reading("done", f"it says: {sentences[claims[-1]].text}")
    asks = next((each.text for each in sentences if MORE.search(each.text)), "")
    if asks and doubt:
        return Reading("more", f"it says: {asks}")
    return Reading("unclear", doubt or "nothing says that the whole task is done")


def _is_claim(sentence: Sentence) -> bool:
    """Whether it says that the whole task is done, and beside it only good news."""
    if sentence.introduced:
        return False
    clauses = _clauses(sentence.text)
    good = all(FINE.fullmatch(clause) for clause in clauses)
    return good and any(CLAIM.fullmatch(clause) for clause in clauses)


def _clauses(text: str) -> list[str]:
    if CLAIM.fullmatch(text):
        return [text]
    rest = LEAD.sub("", text, count=1)
    return [clause.strip(" ,:") for clause in AND.split(rest)]


def _doubt(sentences: list[Sentence], claims: list[int]) -> str:
    """Why the words can't be taken for an end; empty when nothing takes the claim back."""
    for place, sentence in enumerate(sentences):
        text = sentence.text
        if place in claims or all(FINE.fullmatch(clause) for clause in _clauses(text)):
            continue
        if is_heading(text):
            continue
        plain = HARMLESS.sub(" ", text)
        if TAKES_BACK.search(plain) or WEAKENED.search(text) or _is_share(text):
            return f"it also says: {text}"
        if FOREIGN.search(text):
            return f"this can't be read: {text}"
        if not (WORKED.search(text) and _may_report(place, sentence, claims)):
            return f"this is no report of what was done: {text}"
    return ""


def _may_report(place: int, sentence: Sentence, claims: list[int]) -> bool:
    """Before a claim any sentence may; after it only items of a list, and what showed it."""
    shows = sentence.text.startswith(("i ran ", "i verified ", "i checked ", "i confirmed "))
    return not claims or place < claims[0] or sentence.listed or shows


def _is_share(sentence: str) -> bool:
    """Whether it tells of a part: 4 of 30, 95 %."""
    shares = SHARE.findall(sentence)
    return any(percent not in ("", "100") or part != whole for part, whole, percent in shares)
