"""A sample of the campaign, of all kinds: `make test-faults` is the whole."""

from pathlib import Path

import pytest

from tests.faults import subjects
from tests.faults.campaign import SEED, Fault, sample, suffer
from tests.faults.scenes import Workshop


def is_quick(fault: Fault) -> bool:
    """True if a fault takes a few seconds: no text is prepared again, and no other run's weights are needed."""
    trained = {subjects.TRANSLATION, subjects.BERT, subjects.FINETUNING, subjects.THEORY, subjects.RECORDS}
    return (
        fault.subject in trained | {subjects.TEXT_OF_CORPUS, subjects.PIECES, subjects.BF16}
        and fault.kind != "damaged text"
        and "another run's" not in fault.detail
    )


@pytest.fixture(scope="module")
def workshop(
    tmp_path_factory: pytest.TempPathFactory, prepared: Path, prepared_text: Path, prepared_task: Path
) -> Workshop:
    return Workshop(
        tmp_path_factory.mktemp("undisturbed"),
        {
            subjects.BINARISED: {"corpus": prepared},
            subjects.ENGLISH_BINARISED: {"english": prepared_text},
            subjects.TASK_BINARISED: {"english": prepared_text, "task": prepared_task},
        },
    )


@pytest.mark.slow
@pytest.mark.parametrize("fault", sample(8, SEED, is_quick), ids=str)
def test_after_a_fault_a_command_gives_the_same_records_or_says_what_to_do(fault: Fault, workshop: Workshop) -> None:
    outcome = suffer(fault, workshop, SEED)
    if outcome.verdict == "not here":
        pytest.skip(outcome.messages[-1])
    assert outcome.verdict in ("equal", "refused in a line"), "\n".join(outcome.messages)
