"""A fault of each kind: `make test-faults` is the whole campaign."""

from pathlib import Path
from random import Random

import pytest

from tests.faults import subjects
from tests.faults.campaign import SEED, Fault, plan, suffer
from tests.faults.scenes import NotHere, Workshop


def quick() -> list[Fault]:
    """A fault of each kind that takes a few seconds: no text is prepared again, and no other run's files are needed."""
    trained = {subjects.TRANSLATION, subjects.BERT, subjects.FINETUNING, subjects.THEORY, subjects.RECORDS}
    allowed = trained | {subjects.TEXT_OF_CORPUS, subjects.PIECES, subjects.BF16}
    faults = [fault for fault in plan() if fault.subject in allowed and not fault.another]
    Random(SEED).shuffle(faults)
    return list({fault.kind: fault for fault in faults if fault.kind != "damaged text"}.values())


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
@pytest.mark.parametrize("fault", quick(), ids=str)
def test_after_a_fault_a_command_gives_the_same_records_or_says_what_to_do(fault: Fault, workshop: Workshop) -> None:
    try:
        suffer(fault, workshop, SEED)
    except NotHere as reason:
        pytest.skip(str(reason))
