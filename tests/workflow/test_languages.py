"""Text in other scripts goes from `preln init` to translations and scores that mean something."""

import contextlib
import itertools
import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from preln.commands.cli import app
from tests.conftest import MakeOnce
from tests.workflow.conftest import Workspace, copy_repository

ENGLISH = (
    "the man, the woman, the boy, the girl, the doctor, the teacher, the farmer, the king",
    "sees, buys, likes, paints, sells, finds",
    "a house, the red book, an old boat, the cat, a small table, the bread, the water, a ring, the tree, a song",
)
LANGUAGES = {
    "tha": (
        "{0}{1}{2}",
        "ผู้ชาย, ผู้หญิง, เด็กชาย, เด็กหญิง, หมอ, ครู, ชาวนา, กษัตริย์",
        "เห็น, ซื้อ, ชอบ, วาด, ขาย, พบ",
        "บ้าน, หนังสือสีแดง, เรือเก่า, แมว, โต๊ะเล็ก, ขนมปัง, น้ำ, แหวน, ต้นไม้, เพลง",
    ),
    "arb_Arab": (
        "{1} {0} {2}.",
        "الرجل, المرأة, الولد, البنت, الطبيب, المعلم, الفلاح, الملك",
        "يرى, يشتري, يُحِبّ, يرسم, يبيع, يجد",
        "بيتًا, الكتاب الأحمر, قاربًا قديمًا, القطة, طاولة صغيرة, الخبز, الماء, خاتمًا, الشجرة, أغنية",
    ),
}
TAGS = {"tha": "th", "arb_Arab": "ar"}
SMALL = {"encoder_layers": 1, "decoder_layers": 1, "placement": "pre", "seed": 1}


def sentences(form: str, *parts: str) -> list[str]:
    return [form.format(*words) for words in itertools.product(*(part.split(", ") for part in parts))]


@pytest.fixture(scope="session")
def two_languages(make_once: MakeOnce) -> Workspace:
    """A study of translation into two languages: of each study that `preln init` wrote, its corpus and a run, with
    fewer layers."""

    def fill(folder: Path) -> None:
        workspace = copy_repository(folder)
        corpora: dict[str, Any] = {}
        runs = []
        with contextlib.chdir(folder):
            for code, forms in LANGUAGES.items():
                files = [Path("data", code, f"train.{language}") for language in ("eng", code)]
                files[0].parent.mkdir(parents=True)
                for file, lines in zip(files, (sentences("{0} {1} {2}.", *ENGLISH), sentences(*forms)), strict=True):
                    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
                study = Path("config", f"{TAGS[code]}.yaml")
                app(["init", *map(str, files), "--out", str(study)], standalone_mode=False)
                content = yaml.safe_load(study.read_text(encoding="utf-8"))
                corpora |= content["corpora"]
                (chosen,) = content["translation"]["runs"]
                runs.append(content["translation"]["settings"] | {"warmup": max(chosen["warmup"])} | SMALL)
        workspace.write({"study": "two", "corpora": corpora, "translation": {"runs": runs}})
        workspace.snakemake("results/two/tables/runs.csv")

    return Workspace(make_once("two languages", fill))


def runs_of(study: Workspace) -> pd.DataFrame:
    runs = pd.read_csv(study.folder / "results" / "two" / "tables" / "runs.csv")
    return runs.set_index(runs["corpus"].str.removeprefix("en-"))


def test_other_scripts_are_trained_scored_and_tabled(two_languages: Workspace) -> None:
    runs = runs_of(two_languages)
    tokenisers = runs["signature_tokenised"].str.extract(r"tok:([\w-]+)")[0].to_dict()
    assert tokenisers == {"th": "char", "ar": "13a"}
    assert runs[["final_test_bleu", "final_test_sacrebleu", "final_test_chrf"]].gt(50).all(axis=None)
    assert "Test chrF" in (two_languages.folder / "results" / "two" / "tables" / "runs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_translation_reads_as_its_language_is_written(
    code: str,
    two_languages: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(two_languages.folder)
    source, target = (
        Path("data", code, f"train.{language}").read_text(encoding="utf-8").splitlines()[::8]
        for language in ("eng", code)
    )
    (tmp_path / "source").write_text("\n".join(source), encoding="utf-8")
    run = runs_of(two_languages).loc[TAGS[code], "run"]

    app(["translate", "results/two", run, "--file", str(tmp_path / "source")], standalone_mode=False)

    translations = capsys.readouterr().out.splitlines()
    composed = [unicodedata.normalize("NFC", line) for line in target]
    right = sum(made == line for made, line in zip(translations, composed, strict=True))
    assert right > 0.5 * len(target), translations[:5]
