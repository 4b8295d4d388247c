"""A study file says what it means, and a wrong one is refused in words that help; a text is known by its checksum."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from preln.config import Execution, RunSettings, Study, StudyError, base, load, read, validate, write
from preln.config.base import FORMS, content_of
from preln.config.lines import document, line_of
from preln.records.files import sha256
from preln.translation.runs import expand
from tests.conftest import RUN, TASK, bert_content, settings, study_content
from tests.refused import refused


def refusal(content: Any) -> str:
    with pytest.raises(StudyError) as caught:
        validate(content, "my.yaml")
    return str(caught.value)


def with_corpus(corpus: dict[str, Any]) -> dict[str, Any]:
    return study_content(corpora={"tiny": corpus})


def with_source(source: dict[str, Any]) -> dict[str, Any]:
    return study_content(texts={"t": {"sources": [source]}})


def test_a_number_may_be_the_text_of_a_command_line_or_of_yaml() -> None:
    execution = validate(study_content(execution={"gpus": "1", "runs_a_gpu": "12"}), "study.yaml").execution
    assert (execution.gpus, execution.runs_a_gpu) == (1, 12)
    # PyYAML follows YAML 1.1, in which 1e-3 is text.
    assert settings(learning_rate="1e-3").learning_rate == 0.001


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        (
            {"source": "files", "path": "novels", "documents": 3},
            [
                "texts.t.sources.0.documents: 3: Input should be 'file', 'blank-line' or 'line'",
                "texts.t.sources.0.documents: 3: Input should be greater than or equal to 10",
            ],
        ),
        ({"source": "wikipedia"}, ["texts.t.sources.0: date, file: give one of them"]),
        ({"source": "files"}, ["texts.t.sources.0.path: missing"]),
    ],
    ids=["one of several kinds", "a section as a whole", "missing"],
)
def test_a_wrong_value_is_named_by_its_key_and_nothing_else(source: dict[str, Any], messages: list[str]) -> None:
    assert refusal(with_source(source)).splitlines() == [f"my.yaml: {message}" for message in messages]


def scheduled(schedule: str, **changes: Any) -> dict[str, Any]:
    """A study of one run with this schedule."""
    return study_content({"schedule": schedule, **changes})


def test_an_unknown_key_of_a_run_is_named_with_those_allowed() -> None:
    message = refusal(study_content({"colour": 1}))
    assert message.startswith("my.yaml: translation.runs.0.colour: unknown key; allowed: ")
    assert {"figures", "execution", *RunSettings.model_fields} == set(message.partition("allowed: ")[2].split(", "))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        # A key that is none.
        (study_content(corpra={}), "my.yaml: corpra: unknown key (did you mean corpora?)"),
        (study_content(execution={"GPUs": 1}), "execution.GPUs: unknown key (did you mean gpus?)"),
        (with_corpus({"source": "embedded", "held-out": 50}), "held-out: unknown key (did you mean held_out?)"),
        (with_source({"source": "embedded", "docs": 1}), "sources.0.docs: unknown key (did you mean documents?)"),
        (
            study_content(translation={"settings": {"epocs": 3}, "runs": [{}]}),
            "translation.settings.epocs: unknown key (did you mean epochs?)",
        ),
        (study_content({}, {"learningrate": 1}), "runs.1.learningrate: unknown key (did you mean learning_rate?)"),
        (bert_content({"finetunes": 2}), "pretraining.runs.0.finetunes: unknown key (did you mean finetune?)"),
        (
            study_content(translation={"settings": {**RUN, "seed": [1, 2]}, "runs": [{}]}),
            "settings.seed: [1, 2]: must be one value, for all runs; a list belongs under `runs`",
        ),
        # A value that is none of a choice.
        (with_corpus({"vocabulary": 300}), "corpora.tiny: source: missing"),
        (with_corpus({"source": "embeded"}), "tiny.source: 'embeded' (did you mean embedded?): Input should be"),
        (study_content({"schedule": ["constant", "inverse_sqrt"]}), "(did you mean inverse-sqrt?): Input should be"),
        # A value of another kind, or that no training takes.
        (study_content(study="My_Study"), "study: 'My_Study': must be of lower-case letters, digits and hyphens"),
        (study_content(study=2024), "study: 2024: must be text; put what you wrote in quotes"),
        (study_content(execution={"log_interval": "1e2"}), "'1e2': must be a whole number, such as 1000"),
        (study_content(execution={"gpus": 4, "runs_a_gpu": 2}), "runs_a_gpu: 2 is for trainings of one GPU; gpus is 4"),
        (study_content(execution={"graphs": True}), "graphs: true is for trainings of one GPU; gpus is 0"),
        (study_content({"warmup": True}), "runs.0.warmup: True: must be a number"),
        (study_content({"epsilon": float("inf")}), "runs.0.epsilon: inf: Input should be a finite number"),
        (study_content({"seed": 2**31}), "runs.0.seed: 2147483648: Input should be less than 2147483648"),
        (study_content({"precision": "fp16"}), "fp16 needs a GPU (execution.gpus); allowed on a CPU: fp32, bf16"),
        (study_content(translation={"settings": RUN, "runs": []}), "translation.runs: needs 1 or more"),
        (study_content({"warmup": []}), "my.yaml: translation.runs.0: warmup: [] makes no run"),
        # More than there is of the text that comes along.
        (with_corpus({"source": "embedded", "pairs": 24_001}), "tiny.pairs: 24001: the embedded text has 24,000; give"),
        (with_source({"source": "embedded", "documents": 4_001}), "documents: 4001: the embedded text has 4,000; give"),
        (
            bert_content(tasks={"pairs": {**TASK, "pairs": 2_401}}),
            "tasks.pairs.pairs: 2401: the embedded text has 2,400; give at most as many",
        ),
        (
            bert_content(tasks={"pairs": {**TASK, "dev": 2_400}}),
            "tasks.pairs: pairs, dev: 60 and 2,400; the embedded task has 2,400 in all",
        ),
        # Values that do not go together.
        (study_content(paper_settings=True, paper_curves=True), "paper_curves: paper_settings draws"),
        (study_content({"heads": 3}), "width: 16 is no multiple of heads, of which there are 3; 15 and 18 would be"),
        (scheduled("constant", drop_epoch=3), "drop_epoch: 3 is not before the last of 3 epochs"),
        (scheduled("drop-inverse-sqrt"), "drop_epoch: needed by the schedule drop-inverse-sqrt"),
        (scheduled("constant", decay_updates=9), "not constant; leave it out, or give this run decay_updates: null"),
        (scheduled("constant", anchor="hold"), "not constant; leave it out, or give this run anchor: warmup"),
        (scheduled("stable-decay", decay_start=10, decay_updates=10), "10 does not exceed decay_start 10"),
        (scheduled("stable-decay", decay_start=9, decay_updates=99), "decay_start: 9 is before the end"),
        (scheduled("linear", decay_updates=10), "warmup: 10 reaches to the end of the decay, decay_updates 10"),
        (study_content({"anchor": "hold", "decay_period": 9}), "warmup: 10 exceeds decay_period 9 (anchor hold)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_told_with_its_key_and_with_what_is_allowed(content: dict[str, Any], told: str) -> None:
    with refused(StudyError, told):
        expand(validate(content, "my.yaml"))


def test_every_pattern_of_a_study_is_told_in_words() -> None:
    patterns = set(re.findall(r'"pattern": "(.*?)"', json.dumps(Study.model_json_schema())))
    assert {json.loads(f'"{pattern}"') for pattern in patterns} == set(FORMS)


def test_a_folder_may_be_in_the_users_home_and_a_home_that_is_not_there_is_named() -> None:
    own, other = (with_corpus({"source": "iwslt14", "folder": f"{home}/iwslt14"}) for home in ("~", "~no-such-user"))
    assert validate(own, "my.yaml").local_paths == {"corpora.tiny.folder": Path.home() / "iwslt14"}
    assert "corpora.tiny.folder: '~no-such-user/iwslt14': " in refusal(other)


def test_a_key_that_is_taken_over_from_another_section_may_be_given_anew(tmp_path: Path) -> None:
    text = "first: {deep: &b {<<: {key: 1}, key: 2}}\nsecond: {<<: *b, key: 3}\n"
    (tmp_path / "merged.yaml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "merged.yaml") == {"first": {"deep": {"key": 2}}, "second": {"key": 3}}


def test_a_study_that_is_written_is_read_back(tmp_path: Path) -> None:
    study = validate(study_content({"learning_rate": "1e-3", "figures": [2]}), "my.yaml")
    write(study, tmp_path / "study.yaml")
    assert expand(load(tmp_path / "study.yaml")) == expand(study)


@pytest.mark.parametrize(("cpus", "gpus", "collators"), [(4, 0, 0), (1, 1, 0), (2, 2, 1)])
def test_a_process_has_a_collator_if_it_has_a_gpu_and_a_core_to_spare(cpus: int, gpus: int, collators: int) -> None:
    assert Execution(cpus=cpus, gpus=gpus).collators == collators


@pytest.mark.parametrize(("number", "value"), [("010", "8"), ("1:30", "90"), ("-0_17", "-15"), ("2:00:00", "7200")])
def test_a_number_that_means_another_to_yaml_is_refused_with_both(number: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(f"study: tiny\ntranslation:\n  settings: {{epochs: {number}}}\n", encoding="utf-8")
    with pytest.raises(StudyError, match=f"study.yaml:3: {number}: to YAML this is {value}; write the number"):
        read(path)


@pytest.mark.parametrize("number", ["0", "10", "0.5", "1e-3", "20260101", "0x10", "'010'", "a:30", "1_000"])
def test_a_number_that_is_what_it_looks_like_is_read(number: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(f"study: {number}\n", encoding="utf-8")
    assert read(path)["study"] is not None


TEXT = """\
# The first key is on the third line.

study: tiny
usual: &usual
  width: 16
  heads: 2
translation:
  settings: {<<: *usual, warmup: 5}
  runs:
    - &one
      seed: 1
      beam:
        - 1
        - 2
    - *one
    - <<: [*one, *usual]
      heads: 4
    -
      "dropout": 0.1
"""


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("study: missing", 3),
        ("colour: a key that the file does not have", 3),
        ("usual: heads: a key that the message names later", 6),
        ("translation.settings.warmup: of a section in one line", 8),
        ("translation.settings.width: taken over", 5),
        ("translation.runs.0: a run", 10),
        ("translation.runs.0.beam: a list", 12),
        ("translation.runs.0.beam.1: its second item", 14),
        ("translation.runs.0.learning_rate: missing", 10),
        ("translation.runs.0.warmup: of the settings", 8),
        ("translation.runs.1: what the alias names", 10),
        ("translation.runs.1.seed: what the alias names", 11),
        ("translation.runs.2.heads: its own, before the one taken over", 17),
        ("translation.runs.2.width: taken over with the second", 5),
        ("translation.runs.2.seed: taken over with the first", 11),
        ("translation.runs.3.dropout: a key in quotes", 19),
        ("translation.runs.9: none such", 9),
    ],
)
def test_the_line_is_that_of_the_key_or_of_the_section_that_should_have_it(told: str, line: int) -> None:
    assert line_of(document(TEXT), told) == line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every text is a long one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "LONG_TEXT", 1)
    return tmp_path


def test_another_process_reads_the_checksum_of_a_long_text_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = folder / "text.txt"
    text.write_text("one\n", encoding="utf-8")
    expected = sha256(text)
    assert content_of(text) == expected
    base._checksum.cache_clear()
    monkeypatch.setattr(base, "sha256", lambda path: "read again")
    assert content_of(text) == expected
    text.write_text("another\n", encoding="utf-8")
    assert content_of(text) == "read again"


def test_a_file_that_changed_below_a_folder_is_another_text(folder: Path) -> None:
    text = folder / "texts" / "below" / "text.txt"
    text.parent.mkdir(parents=True)
    text.write_text("one\n", encoding="utf-8")
    before = content_of(folder / "texts")
    text.write_text("another\n", encoding="utf-8")
    assert content_of(folder / "texts") != before
