"""A language model becomes a model of `transformers` with the same logits, or is refused with the setting."""

from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from typer.testing import CliRunner

from preln.commands.cli import app
from preln.config import validate, write
from preln.errors import PrelnError
from preln.export.language import export, family_of, model_of
from preln.language.model import LanguageModel
from preln.language.runs import LanguageRun, expand
from preln.language.text import BYTES
from preln.language.training import train_run
from tests.conftest import language_content, language_settings
from tests.refused import refused

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = pytest.mark.numbers

VOCABULARY, LENGTH = 50, 16
SHAPE = {"layers": 3, "width": 32, "ffn_width": 48, "heads": 4, "sequence_length": LENGTH}
GATED = {"norm": "rms", "feed_forward": "swiglu", "positions": "rope"}
MODELS: dict[str, dict[str, Any]] = {
    "GPT2": {"placement": "pre"},
    "Llama": {"placement": "pre", **GATED, "tied": False},
    "Olmo2": {"placement": "res-post", "qk_norm": True, **GATED, "heads": 1},
    "Gemma2": {"placement": "sandwich", **GATED},
    "OPT, pre": {"placement": "pre", "feed_forward": "relu"},
    "OPT, post": {"placement": "post", "feed_forward": "relu", "tied": False},
    "OPT, post, GELU": {"placement": "post-init"},
}


@torch.no_grad()
def randomised(model: LanguageModel) -> LanguageModel:
    """The model with all weights drawn, norms too."""
    generator = torch.Generator().manual_seed(1)
    for name, weight in model.named_parameters():
        drawn = torch.randn(weight.shape, generator=generator)
        if name.endswith("scale"):
            weight.fill_(0.7)
        elif model.settings.qk_norm and (".query." in name or ".key." in name):
            # As weight decay leaves them, for their length has no effect.
            weight.copy_(0.01 * drawn)
        else:
            weight.copy_(0.2 * drawn + ("norm" in name and name.endswith("weight")))
    return model.eval()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_logits_are_those_of_the_model_that_transformers_loads(name: str, tmp_path: Path) -> None:
    settings = language_settings(**{**SHAPE, **MODELS[name]})
    ours = randomised(LanguageModel(settings, VOCABULARY))
    exported = model_of(settings, ours.state_dict())
    assert type(exported).__name__.startswith(name.partition(",")[0])
    exported.save_pretrained(tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    tokens = torch.randint(VOCABULARY, (4, LENGTH), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected = theirs(input_ids=tokens).logits
        assert expected.std() > 0.1
        torch.testing.assert_close(ours(tokens), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"placement": "deepnorm"}, "none has placement: deepnorm"),
        ({"feed_forward": "swiglu"}, "the nearest, GPT2, has feed_forward: gelu, and this one swiglu"),
        ({**GATED, "qk_norm": True}, "the nearest, Llama, has qk_norm: false, and this one true"),
        ({"placement": "res-post", **GATED, "qk_norm": True}, "the nearest, Olmo2, has heads: 1, and this one 4"),
        ({"placement": "sandwich", **GATED, "positions": "learned"}, "Gemma2, has positions: rope"),
        ({"placement": "post", "norm": "rms"}, "the nearest, OPT, has norm: layer, and this one rms"),
    ],
)
def test_what_no_model_there_has_is_refused_with_the_setting(changes: dict[str, Any], told: str) -> None:
    with refused(PrelnError, told):
        family_of(language_settings(**{**SHAPE, "placement": "pre", **changes}))


def trained(tokens: str, prepared: Path, folder: Path) -> LanguageRun:
    study = validate(language_content({"tokens": tokens}), "my.yaml")
    (run,) = expand(study)
    train_run(study, run, prepared, folder / run.folder)
    write(study, folder / "study.yaml")
    return run


@pytest.mark.parametrize("tokens", ["bytes", "bpe"])
def test_a_trained_run_is_exported_with_card_and_record(tokens: str, prepared_tokens: Path, tmp_path: Path) -> None:
    run = trained(tokens, prepared_tokens, tmp_path)
    out = tmp_path / "exported"
    command = ["export", str(tmp_path), run.id, "--to", "huggingface", "--prepared", str(prepared_tokens)]
    outcome = CliRunner().invoke(app, [*command, "--out", str(out)], catch_exceptions=False)
    assert outcome.exit_code == 0
    assert (out / "run.json").read_bytes() == (tmp_path / run.folder / "run.json").read_bytes()
    assert (out / "bpe.model").exists() == (tokens == "bpe")
    card = (out / "README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(card.split("---")[1])["pipeline_tag"] == "text-generation"
    code = card.partition("```python\n")[2].partition("```")[0].replace("THIS FOLDER", str(out))
    written: dict[str, Any] = {}
    exec(code, written)
    vocabulary = BYTES if tokens == "bytes" else run.text.vocabulary + 1
    assert written["model"].config.vocab_size <= vocabulary
    assert len(written["written"]) == run.settings.sequence_length


def test_a_run_without_weights_here_is_refused(prepared_tokens: Path, tmp_path: Path) -> None:
    run = trained("bytes", prepared_tokens, tmp_path)
    for checkpoint in tmp_path.rglob("checkpoint_*.pt"):
        checkpoint.unlink()
    with refused(PrelnError, run.id, "no weights of update 12 on this machine"):
        export(run, prepared_tokens, tmp_path / run.folder, tmp_path / "out")
