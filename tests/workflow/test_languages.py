"""Text in five scripts goes from `preln init` to translations and scores that mean something."""

from __future__ import annotations

import itertools
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
import yaml

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
    "zho_Hans": (
        "{0}{1}{2}。",
        "男人, 女人, 男孩, 女孩, 医生, 老师, 农民, 国王",
        "看见, 购买, 喜欢, 画, 出售, 找到",
        "房子, 红色的书, 旧船, 猫, 小桌子, 面包, 水, 戒指, 树, 歌曲",
    ),
    "arb_Arab": (
        "{1} {0} {2}.",
        "الرجل, المرأة, الولد, البنت, الطبيب, المعلم, الفلاح, الملك",
        "يرى, يشتري, يُحِبّ, يرسم, يبيع, يجد",
        "بيتًا, الكتاب الأحمر, قاربًا قديمًا, القطة, طاولة صغيرة, الخبز, الماء, خاتمًا, الشجرة, أغنية",
    ),
    "hi": (
        "{0} {2} {1} है।",
        "आदमी, महिला, लड़का, लड़की, डॉक्टर, शिक्षक, किसान, राजा",
        "देखता, खरीदता, चाहता, रंगता, बेचता, पाता",
        "घर, लाल किताब, पुरानी नाव, बिल्ली, छोटी मेज़, रोटी, पानी, अँगूठी, पेड़, गीत",
    ),
    "fin": (
        "{0} {1} {2}.",
        "mies, nainen, poika, tyttö, lääkäri, opettaja, maanviljelijä, kuningas",
        "näkee, ostaa, rakastaa, maalaa, myy, löytää",
        "talon, punaisen kirjan, vanhan veneen, kissan, pienen pöydän, leivän, veden, sormuksen, puun, laulun",
    ),
}
TAGS = {"tha": "th", "zho_Hans": "zh", "arb_Arab": "ar", "hi": "hi", "fin": "fi"}
TINY = {"encoder_layers": 1, "decoder_layers": 1, "batch_tokens": 512, "epochs": 20, "learning_rate": 5e-3}


def sentences(form: str, *parts: str) -> list[str]:
    return [form.format(*words) for words in itertools.product(*(part.split(", ") for part in parts))]


@pytest.fixture(scope="session")
def five_languages(make_once: MakeOnce) -> Workspace:
    """A study of translation into five languages, from the corpora of five studies of `preln init`."""

    def fill(folder: Path) -> None:
        workspace = copy_repository(folder)
        content = {}
        corpora = {}
        for code, forms in LANGUAGES.items():
            for name, lines in (("eng", sentences("{0} {1} {2}.", *ENGLISH)), (code, sentences(*forms))):
                text = workspace.folder / "data" / code / f"train.{name}"
                text.parent.mkdir(parents=True, exist_ok=True)
                text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            files = [f"data/{code}/train.{name}" for name in ("eng", code)]
            outcome = workspace.run("preln", "init", *files, "--out", f"config/{TAGS[code]}.yaml")
            assert outcome.code == 0, outcome.output
            content = yaml.safe_load((workspace.folder / "config" / f"{TAGS[code]}.yaml").read_text(encoding="utf-8"))
            (corpus,) = content["corpora"].values()
            corpora[TAGS[code]] = {**corpus, "vocabulary": 160}
        settings = {**content["translation"]["settings"], **TINY, "corpus": "fi"}
        runs = [{"corpus": list(corpora), "placement": "pre", "warmup": 20}]
        workspace.write({"study": "five", "corpora": corpora, "translation": {"settings": settings, "runs": runs}})
        outcome = workspace.run("preln", "run", "config/config.yaml", "--cores", "2")
        assert outcome.code == 0, outcome.output

    return Workspace(make_once("five languages", fill))


@pytest.mark.slow
def test_five_scripts_are_trained_scored_and_reported(five_languages: Workspace) -> None:
    results = five_languages.folder / "results" / "five"
    runs = pd.read_csv(results / "tables" / "runs.csv").set_index("corpus")
    tokenisers = runs["signature_tokenised"].str.extract(r"tok:([\w-]+)")[0].to_dict()
    assert tokenisers == {"th": "char", "zh": "zh", "ar": "13a", "hi": "13a", "fi": "none"}
    assert runs[["final_test_bleu", "final_test_sacrebleu", "final_test_chrf"]].gt(50).all(axis=None)
    assert "Test chrF" in (results / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_translation_reads_as_its_language_is_written(code: str, five_languages: Workspace) -> None:
    runs = pd.read_csv(five_languages.folder / "results" / "five" / "tables" / "runs.csv").set_index("corpus")["run"]
    text = five_languages.folder / "data" / code
    command = ("preln", "translate", "results/five", runs[TAGS[code]], "--file", str(text / "train.eng"))

    translations = five_languages.run(*command).output.splitlines()

    references = (text / f"train.{code}").read_text(encoding="utf-8").splitlines()
    composed = [unicodedata.normalize("NFC", line) for line in references]
    right = sum(made == line for made, line in zip(translations, composed, strict=True))
    assert right > 0.5 * len(references), translations[:5]
