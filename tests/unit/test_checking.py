"""A study is checked before any job, and all mistakes are reported in one message."""

import copy
import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from preln.config import StudyError
from preln.config.grid import MOST_RUNS
from preln.corpora import local
from preln.jobs.checking import check, check_file
from tests.conftest import PRETRAINING, RUN, bert_content, every_kind, language_content, study_content
from tests.refused import names, refusal

SENTENCES = "".join(f"this is sentence {number}\n" for number in range(50))


def mistakes(content: Any) -> list[str]:
    """The lines of the message on a study's content."""
    with pytest.raises(StudyError) as caught:
        check(content, "my.yaml")
    return str(caught.value).split("\n")


@pytest.fixture
def text(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """A study on parallel text of the user's own, whose files are there; changes are of the corpus."""
    for part in ("train", "valid"):
        for language in ("nl", "fr"):
            (tmp_path / f"{part}.{language}").write_text(SENTENCES, encoding="utf-8")

    def content(**changes: Any) -> dict[str, Any]:
        files = {"source": str(tmp_path / "train.nl"), "target": str(tmp_path / "train.fr")}
        corpus = {"source": "files", "source_language": "nl", "target_language": "fr", "train": files, "held_out": 10}
        return study_content(corpora={"tiny": {**corpus, **changes}})

    return content


@pytest.mark.parametrize(
    ("content", "line", "parts"),
    [
        (b"", None, ("nothing", "keys")),
        (b"- a\n- b\n", None, ("['a', 'b']", "keys")),
        (b"study: one\n\tdescription: two\n", 2, ("YAML", "tab", "spaces")),
        (b"study: one\ndescription: two\x07\n", 2, ("YAML", "U+0007")),
        ("study: één\n".encode("latin-1"), 1, ("UTF-8", "save")),
        (b"study: one\ndescription: 2001-99-99\n", None, ("YAML", "month")),
        (b"study: one\nstudy: two\n", 2, ("YAML", "duplicate key", "study")),
    ],
    ids=["empty", "a list", "a tab", "a control character", "Latin-1", "no such date", "key twice"],
)
def test_what_is_no_study_is_refused(content: bytes, line: int | None, parts: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    place = f"{path}:{line}" if line else str(path)
    output = refusal("plan", str(path))
    assert output.startswith(f"preln: {place}: ")
    assert names(output, *parts) and "\n" not in output, output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("quick", "; the study quick is in config/config.yaml"),
        ("config/paper-epok.yaml", " (did you mean config/paper-epoch.yaml?)"),
        ("elsewhere", "; there are config/amplification.yaml, "),
    ],
)
def test_a_study_that_is_missing_is_told_with_others(asked: str, hint: str) -> None:
    assert refusal("plan", asked).startswith(f"preln: {asked}: cannot be read (No such file or directory){hint}")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("pipe", ("regular file",)),
        ("empty", ("empty",)),
        ("none", ("exist",)),
        ("train.nl/below", ("Not a directory",)),
        ("{x}.nl", ("{...}", "Snakemake", "rename")),
    ],
    ids=["pipe", "empty", "none", "below a file", "braces"],
)
def test_a_source_that_is_no_file_of_text_is_named_with_its_key(
    name: str, parts: tuple[str, ...], text: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "{x}.nl").write_text(SENTENCES, encoding="utf-8")
    path = tmp_path / name
    (line,) = mistakes(text(valid={"source": str(path), "target": str(tmp_path / "valid.fr")}))
    start = f"my.yaml: corpora.tiny.valid.source: {path}"
    assert line.startswith(start)
    assert names(line.removeprefix(start), *parts), line


def test_a_path_that_is_not_utf_8_is_refused(text: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"tr\xe4in.nl")
    path.write_text(SENTENCES, encoding="utf-8")
    (line,) = mistakes(text(valid={"source": str(path), "target": str(tmp_path / "valid.fr")}))
    assert names(line, "my.yaml: corpora.tiny.valid.source: ", "tr\\udce4in.nl", "UTF-8", "rename"), line


def test_trainings_of_two_kinds_that_share_an_id_are_refused() -> None:
    language = language_content({"learning_rate": PRETRAINING["learning_rate"], "schedule": "inverse-sqrt"})
    (line,) = mistakes({**bert_content(), **language})
    assert names(line, "language: the run pre-lr2e-3-wu0-s1 ", "a run of `pretraining`", "another study"), line


def test_a_file_that_is_given_twice_has_both_keys_named(text: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    again = tmp_path / "again.nl"
    again.hardlink_to(tmp_path / "train.nl")
    (line,) = mistakes(text(valid={"source": str(again), "target": str(tmp_path / "valid.fr")}))
    assert names(line, f"my.yaml: corpora.tiny.valid.source: {again} ", "train.source")


def test_more_than_there_is_cannot_be_held_out(text: Callable[..., dict[str, Any]]) -> None:
    check(text(held_out=24), "my.yaml")
    (line,) = mistakes(text(held_out=25))
    assert names(line, "my.yaml: corpora.tiny.held_out: ", "50 pairs", "50 lines"), line


def content_with(place: str, section: dict[str, Any]) -> dict[str, Any]:
    """A study's content with a section of what is read from files, at its place."""
    match place:
        case "corpora.tiny":
            return study_content(corpora={"tiny": section})
        case "tasks.pairs":
            return bert_content(tasks={"pairs": section})
        case _:
            return bert_content(texts={"tiny": {"sources": [section], "vocabulary": 300}})


@pytest.mark.parametrize(
    ("place", "source", "files", "parts"),
    [
        ("corpora.tiny", "iwslt14", [], ("de-en.tgz", "train.de, train.en, valid.de, valid.en, test.de, test.en")),
        ("corpora.tiny", "iwslt14", ["train.de", "train.en", "valid.de", "valid.en", "test.de"], ("/test.en ",)),
        ("corpora.tiny", "wmt14", ["dev.tgz"], ("/training-parallel-europarl-v7.tgz ",)),
        ("tasks.pairs", "rte", ["train.tsv"], ("/dev.tsv ",)),
        ("tasks.pairs", "mrpc", ["dev_ids.tsv"], ("/msr_paraphrase_train.txt ",)),
        ("tasks.pairs", "mrpc", [], ("msr_paraphrase_train.txt", "mrpc_dev_ids.tsv or dev_ids.tsv")),
        ("texts.tiny.sources.0", "wikitext", ["picture.png"], ("allowed: .txt,",)),
    ],
)
def test_a_folder_that_lacks_what_is_read_from_it_is_named_with_that(
    place: str, source: str, files: list[str], parts: tuple[str, ...], tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).write_text(SENTENCES, encoding="utf-8")
    line, *_ = mistakes(content_with(place, {"source": source, "folder": str(tmp_path)}))
    assert line.startswith(f"my.yaml: {place}.folder: {tmp_path}")
    assert names(line, *parts), line


def test_a_table_is_no_english_text(tmp_path: Path) -> None:
    path = tmp_path / "c4.json.gz"
    path.write_bytes(b"anything")
    (line,) = mistakes(content_with("texts.tiny.sources.0", {"source": "files", "path": str(path)}))
    assert names(line, f"my.yaml: texts.tiny.sources.0.path: {path} is a table", ".txt"), line


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "de-en.tgz"
    path.write_text(SENTENCES, encoding="utf-8")
    (line,) = mistakes(content_with("corpora.tiny", {"source": "iwslt14", "folder": str(path)}))
    assert names(line, f"my.yaml: corpora.tiny.folder: {path} ", "give the folder")


def test_a_folder_of_everything_is_not_searched_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count(1)
    monkeypatch.setattr(local, "MOST_FILES", 10)
    monkeypatch.setattr(local, "_files", lambda folder: (folder / f"{number}.txt" for number in numbers))
    (line,) = mistakes(content_with("texts.tiny.sources.0", {"source": "files", "path": str(tmp_path)}))
    assert names(line, f"my.yaml: texts.tiny.sources.0.path: {tmp_path} ", "10 files", "give the folder"), line
    assert next(numbers) == 12


IN_AN_ID = ("dropout", "label_smoothing", "beta1", "beta2", "weight_decay", "clip_norm", "drop_factor")
ENDLESS = {key: list(range(1000)) for key in ("seed", "warmup", "epochs", "beam", "heads", "width", "batch_tokens")}
POINTS = {**bert_content()["finetuning"], "batch_sizes": list(range(1, 1001)), "epochs": list(range(1, 1001))}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (study_content(dict.fromkeys(IN_AN_ID, 0.12345678901234567)), ("translation.runs.0: ", "id", "characters")),
        (study_content(ENDLESS), ("runs", "allowed: 100,000", "divide the study")),
        (study_content({"seed": list(range(MOST_RUNS))}, {"warmup": 3}), ("runs", "allowed: 100,000")),
        (
            bert_content(finetuning=POINTS),
            ("my.yaml: finetuning: batch_sizes, learning_rates, epochs: ", "2,000,000", "allowed: 1,000"),
        ),
    ],
    ids=["an id too long for a file", "a number without end", "one too many in two entries", "points of a fine-tuning"],
)
def test_what_no_computer_holds_is_refused_before_it_is_made(content: dict[str, Any], parts: tuple[str, ...]) -> None:
    (line,) = mistakes(content)
    assert names(line, *parts), line


@pytest.mark.slow
def test_a_mistake_that_a_large_grid_shares_is_told_once() -> None:
    runs = {"seed": list(range(1000)), "learning_rate": [number * 1e-4 for number in range(1, 11)], "epochs": 0}
    told = "my.yaml: translation.runs.0.epochs: 0: Input should be greater than or equal to 1"
    assert mistakes(study_content(runs)) == [told]


def test_a_shared_setting_that_every_entry_gives_anew_is_in_no_run_whatever_it_is() -> None:
    content = study_content({"encoder_layers": 1})
    content["translation"]["settings"] = {**RUN, "encoder_layers": "a tenth"}
    assert [run.settings.encoder_layers for run in check(content, "my.yaml").jobs["translation"]] == [1]


def test_each_mistake_in_a_grid_or_file_has_its_line_told(text: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    content = text(valid={"source": "none.nl", "target": str(tmp_path / "valid.fr")})
    content["translation"]["runs"] = [{"warmup": -1}, {"corpus": "ted"}]
    content |= {"texts": {"novels": {"sources": [{"source": "embedded"}]}}}
    content["pretraining"] = {"settings": {}, "runs": [{"text": "novels", "placement": "in"}]}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    message = refusal("plan", str(path)).removeprefix("preln: ")
    told = re.findall(rf"^{path}:(\d+): ([\w.]+)", message, re.MULTILINE)
    assert len(told) == len(message.splitlines())
    lines = path.read_text(encoding="utf-8").split("\n")
    expected = {
        "corpora.tiny.valid.source": "source: none.nl",
        "translation.runs.0.warmup": "warmup: -1",
        "translation.runs.1.corpus": "corpus: ted",
        "pretraining.runs.0.placement": "placement: in",
        # A missing key would stand in its section, which begins here.
        "pretraining.runs.0.learning_rate": "text: novels",
    }
    assert {key: lines[int(number) - 1].lstrip(" -") for number, key in told}.items() >= expected.items()


def test_of_very_many_mistakes_in_several_sections_the_first_are_told_and_the_others_counted_at_the_end() -> None:
    content = bert_content() | {"translation": study_content()["translation"], "corpora": study_content()["corpora"]}
    content["translation"]["runs"] = [{"corpus": f"ted-{number}"} for number in range(60)]
    content["pretraining"]["runs"] = [{"text": f"novels-{number}"} for number in range(60)]
    lines = mistakes(content)
    assert len(lines) == 51
    assert lines[-1] == "and 70 more like these"


def test_a_near_name_of_a_corpus_a_text_a_task_or_a_run_is_guessed() -> None:
    content = {**bert_content({"text": "tinny"}), **study_content({"corpus": "tny"}, {"seed": 2})}
    lines = mistakes(content)
    assert "my.yaml: translation.runs.0.corpus: 'tny' is not defined (did you mean tiny?); defined: tiny" in lines
    assert "my.yaml: pretraining.runs.0.text: 'tinny' is not defined (did you mean tiny?); defined: tiny" in lines
    content["finetuning"]["tasks"] = ["pair"]
    assert mistakes(content) == ["my.yaml: finetuning.tasks: pair (did you mean pairs?) not defined; defined: pairs"]
    theory = {"gradients": {"runs": ["pre-adam-lr2e-3-wu10-s3"]}}
    (line,) = mistakes(study_content(theory=theory))
    assert names(line, "pre-adam-lr2e-3-wu10-s3 (did you mean pre-adam-lr2e-3-wu10-s1?)"), line


def test_what_follows_from_a_mistake_alone_is_not_said() -> None:
    content = study_content({"placement": "post"}, execution={"gpus": -1})
    content["corpora"]["tiny"] = {"source": "nowhere"}
    content["theory"] = {"gradients": {"runs": ["a-run"]}}
    assert [line.split(": ")[1] for line in mistakes(content)] == ["corpora.tiny.source", "execution.gpus"]


def test_a_linked_folder_of_texts_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One sentence.\n", encoding="utf-8")
    (tmp_path / "more").symlink_to("/")
    (line,) = mistakes(content_with("texts.tiny.sources.0", {"source": "files", "path": str(tmp_path)}))
    assert names(line, "sources.0.path", str(tmp_path / "more"), "a linked folder is not read")


@pytest.mark.parametrize("path", sorted(Path("config").glob("*.yaml")), ids=lambda path: path.name)
def test_nothing_is_wrong_with_the_studies_that_come_along(path: Path) -> None:
    check_file(path)


WHOLE = every_kind(translation=study_content({"placement": "post", "warmup": [5, 10]})["translation"])

WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
VALUES = st.one_of(
    st.sampled_from([None, True, "", "x", "1", "{x}", "~nobody/x", "..", [], {}, [[]]]),
    st.integers(),
    st.floats(),
    WORDS,
    st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)),
)


def places(content: Any, *keys: Any) -> Iterator[tuple[Any, ...]]:
    """Where the values of a study stand."""
    if keys:
        yield keys
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield from places(content[key], *keys, key)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A study some of whose values are others, are left out, or have keys beside them that nobody knows."""
    content = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(1, 4))):
        *outer, last = draw(st.sampled_from(list(places(content))))
        inside: Any = content
        for key in outer:
            inside = inside[key]
        match draw(st.sampled_from(["other", "out", "beside"])):
            case "out":
                del inside[last]
            case "beside" if isinstance(inside, dict):
                inside[draw(WORDS | st.integers())] = draw(VALUES)
            case _:
                inside[last] = draw(VALUES)
        if not content:
            return draw(VALUES)
    return content


def test_the_study_to_be_mutated_is_one() -> None:
    assert len(check(WHOLE, "my.yaml").jobs["theory"]) > 3


@given(mutated())
def test_a_mutated_study_is_a_study_or_refused_in_lines_that_name_the_file(content: Any) -> None:
    try:
        check(content, "my.yaml")
    except StudyError as error:
        lines = str(error).split("\n")
        assert all(line.startswith(("my.yaml: ", "and ")) for line in lines)
