"""`preln init` writes a study for one's own text that is right from the start."""

import gzip
import itertools
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from preln.commands.new_study import UPDATES, WARMUP_SHARE, Text, TextStatistics, _text, beside, language, look
from preln.commands.plan import GPUS, items
from preln.config import FilesCorpus, StudyError, load
from preln.config.reading import validate
from preln.corpora import prepare
from preln.errors import PrelnError
from preln.jobs.checking import check_file
from preln.report.catalogue import Catalogue
from preln.translation.runs import expand
from tests.refused import call

RUNNING, TOKENISED = "Een man, en een vrouw.\n", "een man , en een vrouw .\n"


def written(folder: Path, *arguments: str) -> Path:
    """The study that it writes for the text of a folder."""
    out = folder / "config" / "mine.yaml"
    call("init", folder / "train.nl", folder / "train.fr", "--out", out, *arguments)
    return out


def corpus(study: Path) -> FilesCorpus:
    (result,) = load(study).corpora.values()
    assert isinstance(result, FilesCorpus)
    return result


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name in ("train.nl", "train.fr", "text.nl"):
        (tmp_path / name).write_text(RUNNING * 2000, encoding="utf-8")
    return tmp_path


def test_languages_are_those_of_the_names_unless_they_are_said(texts: Path) -> None:
    result = corpus(written(texts))
    assert (result.source_language, result.target_language) == ("nl", "fr")
    (texts / "config" / "mine.yaml").unlink()
    assert corpus(written(texts, "--target-language", "oc")).target_language == "oc"


def test_the_name_of_a_long_file_is_cut(texts: Path) -> None:
    long = [(texts / f"train.{side}").rename(texts / f"{'a' * 70}.{side}") for side in ("nl", "fr")]
    call("init", *long, "--out", texts / "mine.yaml")
    assert list(load(texts / "mine.yaml").corpora) == ["a" * 64]


@pytest.mark.parametrize(
    ("lines", "tokenise"),
    [(RUNNING, True), ("Un homme ?\n" + RUNNING, True), (TOKENISED, False), (TOKENISED * 7 + "dr. Jansen .\n", False)],
    ids=["running", "French", "tokenised", "abbreviations"],
)
def test_text_that_is_tokenised_is_not_tokenised_again(texts: Path, lines: str, tokenise: bool) -> None:
    for side in ("nl", "fr"):
        (texts / f"train.{side}").write_text(lines * 100, encoding="utf-8")
    assert corpus(written(texts)).tokenise is tokenise


def test_text_that_is_written_is_removed_if_another_part_is_wrong(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(texts)
    for side, lines in (("nl", 10), ("fr", 9)):
        (texts / f"train.{side}.gz").write_bytes(gzip.compress((RUNNING * 200).encode()))
        (texts / f"dev.{side}.gz").write_bytes(gzip.compress((RUNNING * lines).encode()))
    for _ in range(2):
        with pytest.raises(PrelnError, match="dev.nl.gz has 10 lines"):
            call("init", "train.nl.gz", "train.fr.gz", "--out", "mine.yaml")
    assert not list(texts.rglob("data/*/*"))


def test_text_that_is_written_is_removed_if_the_study_cannot_be(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(texts)
    for side in ("nl", "fr"):
        (texts / f"train.{side}.gz").write_bytes(gzip.compress((RUNNING * 200).encode()))
    (texts / "taken").touch()
    with pytest.raises(FileExistsError):
        call("init", "train.nl.gz", "train.fr.gz", "--out", "taken/mine.yaml")
    assert not list(texts.rglob("data/*/*"))


def test_parts_beside_train_are_taken_if_both_sides_are_there_however_they_are_compressed(texts: Path) -> None:
    for side in ("nl", "fr"):
        (texts / f"train.{side}.gz").write_bytes(gzip.compress((texts / f"train.{side}").read_bytes()))
        (texts / f"dev.{side}").write_text(RUNNING * 10, encoding="utf-8")
    (texts / "test.nl.xz").write_bytes(lzma.compress(RUNNING.encode() * 10))
    (texts / "valid.nl").write_text(RUNNING * 9, encoding="utf-8")
    valid = (texts / "dev.nl", texts / "dev.fr")
    for train in (texts / "train.nl", texts / "train.nl.gz"):
        assert beside(Text(train, train.with_name(train.name.replace("nl", "fr"))), "valid") == valid
    result = corpus(written(texts))
    assert result.valid is not None and result.valid.source == texts / "dev.nl"
    assert result.test is None


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        (2000, 1999, r"train.nl has 2,000 lines, .*train.fr has 1,999"),
        (99, 99, r"99 pairs of sentences; a study needs at least 100"),
    ],
)
def test_sides_that_are_unlike_or_too_short_are_refused(source: int, target: int, said: str, texts: Path) -> None:
    for side, lines in (("nl", source), ("fr", target)):
        (texts / f"train.{side}").write_text(RUNNING * lines, encoding="utf-8")
    with pytest.raises(StudyError, match=said):
        written(texts)


def test_a_study_that_is_there_is_not_overwritten(texts: Path) -> None:
    before = written(texts).read_bytes()
    with pytest.raises(StudyError, match="is there already; name another file with --out"):
        written(texts, "--target-language", "oc")
    assert (texts / "config" / "mine.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ("train.fr", ["--target-language", "French"], "--target-language: French names no language"),
        ("train.nl", [], "give its translation too, or one file with both sides"),
        ("text.nl", [], "both are in nl; give a text and its translation"),
        ("train.tsv", [], "train.tsv: has both sides by its name; give it alone"),
        ("train.txt", [], "train.txt: its name does not end in a language, .*; give it with --target-language"),
        ("train.fr", ["--out", "My_Study.yaml"], "named after the file, whose name must be of lower-case letters"),
    ],
)
def test_a_wrong_command_is_told_by_its_own_names(target: str, options: list[str], said: str, texts: Path) -> None:
    with pytest.raises(StudyError, match=said):
        call("init", texts / "train.nl", texts / target, *options)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.en.txt", "en"), ("news.de.tok", "de"), ("a.fin.gz", "fi"), ("a.swe_Latn.xz", "sv"), ("a.pt-PT", "pt-PT")],
)
def test_an_ending_of_texts_is_no_language(name: str, expected: str) -> None:
    assert language(Path(name), "--source-language", None) == expected


def kana(number: int) -> str:
    """A sentence in letters of which the text has many, and no spaces."""
    choice = random.Random(number)
    return "".join(chr(0x4E00 + choice.randrange(3000)) for _ in range(choice.randint(8, 40))) + "。"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (lambda number: kana(number), lambda number: kana(number + 10**6)),
        (lambda number: f"Zin {number} over {number % 7} katten, en een hond.", lambda number: kana(number)),
        (lambda number: f"katto{number} " * (1 + number % 9), lambda number: f"koira {number}. " * (1 + number % 9)),
    ],
)
def test_warm_up_and_vocabulary_suit_the_text_as_it_is_prepared(
    source: Callable[[int], str], target: Callable[[int], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, line in (("train.ja", source), ("train.zh", target)):
        Path(name).write_text("".join(f"{line(number)}\n" for number in range(1500)), encoding="utf-8")
    call("init", "train.ja", "train.zh", "--out", "config/own.yaml")
    checked = check_file(Path("config/own.yaml"))
    run = checked.jobs["translation"][0]
    folder = Path(run.prepared[0].folder)
    prepare.prepare_text(run.corpus, Path("downloads"), folder / "text", 1)
    prepare.prepare_bpe(folder / "text", run.corpus.vocabulary, folder / "bpe", 1)
    for estimate in (planned.estimate for planned in items(checked, GPUS["a100"], Path())):
        assert estimate.updates is not None
        assert UPDATES / 1.5 < estimate.updates < UPDATES * 1.5
        share = estimate.warmup / estimate.updates
        assert share == 0 or WARMUP_SHARE / 1.5 < share < WARMUP_SHARE * 1.5


def test_a_small_text_without_spaces_has_pieces_that_are_seen_often() -> None:
    words = ["男人女孩医生", "看见购买出售", "房子书船猫树"]
    pairs = [
        (f"{n}", "".join(side[n * step % 6] for side, step in zip(words, (1, 5, 7), strict=True))) for n in range(480)
    ]
    assert look(pairs, missing_parts=2).vocabulary == 200


def test_a_table_becomes_text_files_with_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, count in (("train", 200), ("dev", 20)):
        rows = "".join(f"Zin {number} van {name}.\tPhrase {number}.\n" for number in range(count))
        Path(f"{name}.nl-fr.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    call("init", "train.nl-fr.tsv.gz", "--out", "config/own.yaml")
    result = corpus(Path("config/own.yaml"))
    assert result.valid is not None
    assert result.valid.source.read_text(encoding="utf-8").splitlines()[7] == "Zin 7 van dev."
    assert result.train.target.read_text(encoding="utf-8").splitlines()[199] == "Phrase 199."
    assert f"The text is now in {result.train.source}, {result.train.target}, " in capsys.readouterr().out
    assert check_file(Path("config/own.yaml")).every


def test_a_text_file_that_is_there_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.nl-fr.tsv").write_text(f"{RUNNING.strip()}\t{RUNNING}" * 200, encoding="utf-8")
    Path("data/own").mkdir(parents=True)
    Path("data/own/train.fr").write_text("mine\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"data/own/train.fr: is there already"):
        call("init", "text.nl-fr.tsv", "--out", "own.yaml")
    assert Path("data/own/train.fr").read_text(encoding="utf-8") == "mine\n"
    assert not Path("own.yaml").exists()


def test_the_study_has_what_a_verdict_needs(texts: Path) -> None:
    checked = check_file(written(texts))
    runs = {(run.settings.placement, run.settings.seed) for run in checked.jobs["translation"]}
    assert runs == set(itertools.product(("post", "pre"), (1, 2, 3)))
    assert {"figure-2", "figure-4"} <= {Path(file).stem for file in Catalogue(checked.study).pictures()}


@given(
    st.builds(TextStatistics, st.integers(1, 10**8), st.booleans(), st.just(2000), st.just(10), st.integers(1, 10**6)),
    st.text("abc -_:#'\"é/", min_size=1, max_size=20),
)
def test_every_text_gives_a_study_whose_warm_up_ends_before_its_runs(seen: TextStatistics, name: str) -> None:
    paths = Path(name), Path(f"{name}.fr")
    study = validate(yaml.safe_load(_text(seen, {"train": paths}, ("nl", "fr"), "no", "own")), "own.yaml")
    (result,) = study.corpora.values()
    assert isinstance(result, FilesCorpus)
    assert (result.train.source, result.train.target) == paths
    for run in expand(study):
        assert run.settings.warmup <= 0.8 * run.settings.epochs * seen.epoch_updates or run.settings.warmup == 1
