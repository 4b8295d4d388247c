"""An exported model is the trained one: `transformers` computes the same scores with it, of the same pieces."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from fairseq import tasks
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from preln.commands.cli import app
from preln.config import validate, write
from preln.corpora import bpe
from preln.errors import PrelnError
from preln.export import huggingface
from preln.export.huggingface import MOST_PIECES, translation_model, unlike
from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.binarise import symbols
from preln.fairseq_plugin.checkpoints import Moment
from preln.fairseq_plugin.launch import configuration
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.pretraining import runs as pretraining
from preln.pretraining import training as pretraining_training
from preln.pretraining.runs import PretrainingRun
from preln.training.training import TrainedModel
from preln.translation import training
from preln.translation.runs import Run, expand
from tests.conftest import bert_content, study_content

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

Exported = tuple[TrainedModel, Path]

# Those that the library has a model of.
SHALLOW = ["post", "pre"]
PLACEMENTS = [*SHALLOW, "lns", "deepnorm"]
# In the first layer alone, LayerNorm scaling is Pre-LN as it stands. With these depths, DeepNorm's factors of the two
# stacks are far apart.
DEEP: list[dict[str, Any]] = [
    {"placement": "lns", "encoder_layers": 2, "decoder_layers": 2},
    {"placement": "deepnorm", "encoder_layers": 4, "decoder_layers": 2},
]


def export(folder: Path, run: Run | PretrainingRun, prepared: Path, out: Path) -> None:
    arguments = [str(folder), run.id, "--to", "huggingface", "--out", str(out), "--prepared", str(prepared)]
    app(["export", *arguments], standalone_mode=False)


def as_it_was_trained(trained: TrainedModel) -> nn.Module:
    """The model of a training, as fairseq builds it."""
    cfg = configuration(trained.training.options(trained.training.state.folder), trained.training.precision)
    model: nn.Module = tasks.setup_task(cfg.task).build_model(cfg.model).eval()
    model.load_state_dict(trained.weights, strict=True)
    return model


@pytest.fixture(scope="module")
def translation(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> dict[str, Exported]:
    folder = tmp_path_factory.mktemp("translation")
    runs = [{**run, "epochs": 1} for run in ({"placement": SHALLOW}, *DEEP)]
    content = validate(study_content(*runs), "study.yaml")
    write(content, folder / "study.yaml")
    result = {}
    for run in expand(content):
        training.train_run(content, run, prepared, folder / run.folder)
        export(folder, run, prepared, out := folder / f"exported-{run.id}")
        result[run.settings.placement] = training.trained(run, prepared, folder / run.folder), out
    return result


@pytest.fixture(scope="module")
def berts(tmp_path_factory: pytest.TempPathFactory, prepared_text: Path) -> dict[str, Exported]:
    folder = tmp_path_factory.mktemp("bert")
    runs = ({"placement": SHALLOW}, {"placement": ["lns", "deepnorm"], "layers": 2})
    content = validate(bert_content(*runs), "study.yaml")
    write(content, folder / "study.yaml")
    result = {}
    for run in pretraining.expand(content):
        pretraining_training.pretrain_run(content, run, prepared_text, folder / run.folder)
        export(folder, run, prepared_text, out := folder / f"exported-{run.id}")
        result[run.settings.placement] = pretraining_training.trained(run, prepared_text, folder / run.folder), out
    return result


def padded(sentences: list[list[int]], left: bool = False) -> Tensor:
    """Numbers of pieces, padded to a rectangle."""
    longest = max(map(len, sentences))
    padding = [[1] * (longest - len(sentence)) for sentence in sentences]
    return torch.tensor(
        [more + sentence if left else sentence + more for sentence, more in zip(sentences, padding, strict=True)]
    )


@pytest.mark.slow
@pytest.mark.numbers
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_translation_model_has_the_same_scores(translation: dict[str, Exported], placement: str) -> None:
    trained, out = translation[placement]
    source = padded([[7, 8, 9, 10, 11, 2], [12, 13, 2]], left=True)
    target = padded([[2, 20, 21, 22], [2, 23, 24, 25]])
    exported = transformers.AutoModelForSeq2SeqLM.from_pretrained(out)
    with torch.no_grad():
        expected, _ = as_it_was_trained(trained)(source, source.ne(1).sum(1), target)
        mask = source.ne(1).long()
        result = exported(input_ids=source, attention_mask=mask, decoder_input_ids=target, use_cache=False).logits
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.numbers
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_bert_has_the_same_scores(berts: dict[str, Exported], placement: str) -> None:
    trained, out = berts[placement]
    tokens = padded([[0, 7, 8, 9, 10, 2], [0, 11, 12, 2]])
    exported = transformers.AutoModelForMaskedLM.from_pretrained(out)
    with torch.no_grad():
        expected, _ = as_it_was_trained(trained)(tokens)
        result = exported(input_ids=tokens, attention_mask=tokens.ne(1).long()).logits
    seen = tokens.ne(1)
    torch.testing.assert_close(result[seen], expected[seen], rtol=1e-4, atol=1e-4)


LINES = st.lists(st.text("abcdefgäöü漢'&;.", min_size=1, max_size=8), min_size=1, max_size=8).map(" ".join)


def numbers(line: str, text: Path, dictionary: str) -> list[int]:
    """The pieces of a line by their numbers in the dictionary of a prepared text."""
    (pieces,) = bpe.encode((text / "bpe" / "bpe.model").read_bytes(), [line], 1)
    known = {piece: number for number, piece in enumerate(symbols(text / "binary" / dictionary))}
    return [known.get(piece, known["<unk>"]) for piece in pieces]


@pytest.fixture(scope="module")
def tokenizers(translation: dict[str, Exported], berts: dict[str, Exported]) -> dict[str, Any]:
    folders = {"translation": translation["post"][1], "bert": berts["post"][1]}
    return {kind: transformers.AutoTokenizer.from_pretrained(folder) for kind, folder in folders.items()}


@pytest.mark.slow
@given(LINES)
def test_tokenizers_give_our_pieces(tokenizers: dict[str, Any], prepared: Path, prepared_text: Path, line: str) -> None:
    assert tokenizers["translation"](line)["input_ids"] == [*numbers(line, prepared, "dict.de.txt"), 2]
    assert tokenizers["bert"](line)["input_ids"] == [0, *numbers(line, prepared_text, "dict.txt"), 2]


@pytest.mark.slow
@pytest.mark.numbers
@pytest.mark.parametrize(("placement", "beam"), [("post", 2), ("pre", 2), ("pre", 1)])
def test_an_exported_model_finds_the_translations_that_our_search_finds(
    translation: dict[str, Exported], prepared: Path, monkeypatch: pytest.MonkeyPatch, placement: str, beam: int
) -> None:
    # The library does not end what its limit cuts off, as ours does, so those are not compared.
    monkeypatch.setattr(decoding, "LENGTH_FACTOR", 0.0)
    monkeypatch.setattr(decoding, "LENGTH_MARGIN", MOST_PIECES)
    penalty = 0.6
    settings = {"placement": placement, "beam": beam, "length_penalty": penalty}
    (run,) = expand(validate(study_content(settings), "study.yaml"))
    compared = 0
    for seed in range(8):
        placed = as_it_says_something(translation[placement][0], seed)
        exported, _ = translation_model(run, placed.state_dict(), prepared)
        # The library warns of two limits, and has one of its own in FSMT.
        assert exported.generation_config.max_length is None
        source = torch.cat([torch.randint(4, 60, (1 + 2 * seed,)), torch.tensor([2])])[None]
        (expected,) = decoding.search(placed, source, torch.tensor([source.size(1)]), beam, penalty)
        if max(len(hypothesis.pieces) for hypothesis in expected) < MOST_PIECES:
            result = exported.generate(source, attention_mask=torch.ones_like(source))
            assert result[0].tolist() == [2, *expected[0].pieces, 2]
            compared += 1
    assert compared >= 3


def as_it_says_something(trained: TrainedModel, seed: int) -> PlacedTransformer:
    """The model with random weights: it says different things of different sentences, and often ends them."""
    placed = as_it_was_trained(trained)
    assert isinstance(placed, PlacedTransformer)
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in placed.named_parameters():
            if "norm" not in name:
                parameter.normal_(0.0, 0.3)
        placed.decoder.embed_tokens.weight[2] *= 5.0
    return placed


@pytest.mark.slow
def test_card_and_record_come_along_and_everyone_may_read_all(translation: dict[str, Exported]) -> None:
    trained, out = translation["pre"]
    card = (out / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---")[1])
    assert front["pipeline_tag"] == "translation"
    assert front["language"] == ["de", "en"]
    job = trained.training.state.job
    metrics = json.loads((job / "metrics.json").read_text())
    assert f"{metrics['final']['valid_loss']:.3f}" in card
    assert metrics["bleu"]["tokenised"] in card
    assert (out / "run.json").read_bytes() == (job / "run.json").read_bytes()
    assert {path.stat().st_mode for path in out.iterdir()} == {(out / "README.md").stat().st_mode}


@pytest.mark.slow
def test_weights_before_the_last_are_refused(translation: dict[str, Exported], prepared: Path, tmp_path: Path) -> None:
    (run,) = expand(validate(study_content({"placement": "pre", "epochs": 1}), "study.yaml"))
    older = replace(translation["pre"][0], moment=Moment(1, 5.0))
    with pytest.raises(PrelnError, match="the last weights are damaged or not on this machine"):
        huggingface.export(run, older, prepared, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_folder_that_is_there_is_not_overwritten(translation: dict[str, Exported], prepared: Path) -> None:
    trained, out = translation["pre"]
    (run,) = expand(validate(study_content({"placement": "pre", "epochs": 1}), "study.yaml"))
    with pytest.raises(PrelnError, match="is there already; name a new folder"):
        huggingface.export(run, trained, prepared, out)


def test_the_initialisation_of_post_ln_makes_no_other_model() -> None:
    (run,) = expand(validate(study_content({"placement": "post-init"}), "study.yaml"))
    assert not unlike(run)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"placement": "peri"}, "none has the placement peri"),
        ({"placement": "pre", "norm": "rms"}, "none with this placement has norm: rms"),
        ({"placement": "post", "qk_norm": True}, "none with this placement has qk_norm"),
    ],
)
def test_what_the_library_has_no_model_of_is_refused_with_the_reason(changes: dict[str, Any], why: str) -> None:
    (run,) = expand(validate(study_content(changes), "study.yaml"))
    assert unlike(run).startswith(why)


def test_a_placement_of_ones_own_is_refused_by_its_name(placement_file: Path) -> None:
    (run,) = expand(validate(study_content({"placement": str(placement_file)}), "study.yaml"))
    assert unlike(run) == "none has the placement again"
