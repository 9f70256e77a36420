"""Several models: a stuck one hands over to a stronger one, and gets its turn back."""

import pytest

from foundry.circular.adaptation import choose
from tests.support.iterations import Histories, check

MODELS = ("small", "middle", "large")


def played(gains: str, mode: str = "escalate", patience: int = 1) -> list[str]:
    """The models of a run in which an iteration gains something for every `+`."""
    history = Histories([check(name="lint", output="100")])
    left = 100
    models = []
    for sign in gains:
        choice = choose(MODELS, history.states, mode, patience)  # type: ignore[arg-type]
        assert choice.reason
        models.append(choice.model)
        if sign == "d":
            history.then(kind="doubt", model="other")
            continue
        left -= sign == "+"
        history.then(model=choice.model, checks=[check(name="lint", output=str(left))])
    return models


def test_nothing_is_stuck() -> None:
    assert played("++++") == ["small"] * 4


def test_stuck_models_hand_over_up_to_the_strongest() -> None:
    assert played("+---+") == ["small", "small", "middle", "large", "large"]
    assert played("-----") == ["small", "middle", "large", "large", "large"]


def test_patience() -> None:
    assert played("--+---", patience=2) == ["small", "small", "middle", "middle", "middle", "large"]


def test_the_weaker_model_has_its_turn_again_but_not_for_ever() -> None:
    assert played("-++-++++") == ["small", "middle", "middle", "small", *["middle"] * 4]


def test_doubts_say_nothing_about_a_model() -> None:
    assert played("+ddd+".replace(" ", "")) == ["small"] * 5


def test_rotation() -> None:
    assert played("+-+-+", "rotate") == ["small", "middle", "large", "small", "middle"]


def test_the_reason_names_what_happened() -> None:
    history = Histories([check(name="lint", output="9")])
    history.then(model="small", checks=[check(name="lint", output="9")])
    assert choose(MODELS, history.states).reason == "small gained nothing in an iteration"
    history.then(model="somebody else", checks=[check(name="lint", output="9")])
    assert choose(MODELS, history.states).model == "middle"


def test_one_model_or_none() -> None:
    assert choose(("only",), ()).model == "only"
    with pytest.raises(ValueError, match="no model"):
        choose((), ())
