"""The model card of an exported model: its description, results, text and use."""

from __future__ import annotations

import json
from typing import Any

import yaml

from preln.corpora.languages import language_of
from preln.corpora.registry import SOURCES
from preln.corpora.tokenisation import GLUED_FULL_STOP, PADDED, PADDED_APOSTROPHE, LinePreparation
from preln.language.runs import LanguageRun
from preln.placements import PLACEMENTS
from preln.pretraining.runs import PretrainingRun
from preln.report.core.records import commit_name, hardware_line
from preln.translation.runs import Run

PAPER = "https://arxiv.org/abs/2002.04745"
PAPER_TITLE = "On Layer Normalization in the Transformer Architecture"

_CARD = """---
{head}---

# {label} {kind}: {id}

A model of a study of where LayerNorm is placed in a Transformer (Xiong et al., 2020, {paper}). It was trained to
compare trainings. What it writes is of no other use.

{layers} layers of width {width}; {label} ({source}). Trained by preln {preln} at commit {commit}, on {hardware}.
`run.json` beside this file has every setting.

## Results

{results}

Losses are in bits a token.

## Text

{text}

{licence}

## Use

```python
{imports}

folder = "THIS FOLDER"
model = transformers.AutoModelFor{auto}.from_pretrained(folder)
{code}
```

{note}
"""

_TRANSLATE = """{moses}

def prepared(line):
{preparation}


def running(line):
    return {running}


lines = ["A sentence.", "Another one!"]
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
pieces = tokenizer([prepared(line) for line in lines], padding=True, return_tensors="pt")
for line in tokenizer.batch_decode(model.generate(**pieces), skip_special_tokens=True):
    print(running(line))"""

_GUESS = """tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
pieces = tokenizer("it was a <mask> day .", return_tensors="pt")
guesses = model(**pieces).logits[0].argmax(-1)
print(tokenizer.convert_ids_to_tokens(guesses))"""

_CONTINUE_PIECES = """tokenizer = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/bpe.model")
beginning = torch.tensor([tokenizer.encode("it was a")])
written = model.generate(beginning, max_length=model.config.max_position_embeddings)[0].tolist()
print(tokenizer.decode([piece for piece in written if piece < len(tokenizer)]))"""

_CONTINUE_BYTES = """beginning = torch.tensor([list("it was a".encode())])
written = model.generate(beginning, max_length=model.config.max_position_embeddings)[0].tolist()
print(bytes(written).decode(errors="replace"))"""


_PIECES = "pieces of `bpe.model`, and after them the end of a line"
_ENGLISH = "The text was in lower case, and tokenised as Moses does."


def card(run: Run | PretrainingRun | LanguageRun, record: dict[str, Any], metrics: dict[str, Any]) -> str:
    """The card, in Markdown, of the model that a run trained, by its run.json and metrics.json."""
    placement = PLACEMENTS[run.settings.placement]
    common = {
        "id": run.id,
        "label": placement.label,
        "source": placement.source,
        "paper": PAPER,
        "width": run.settings.width,
        "preln": record["versions"]["preln"],
        "commit": commit_name(record),
        "hardware": hardware_line(record["hardware"]),
    }
    if isinstance(run, LanguageRun):
        of_kind = _of_language(run, record, metrics)
    else:
        of_kind = _of_translation(run, record, metrics) if isinstance(run, Run) else _of_bert(run, record, metrics)
    return _CARD.format(**common, **of_kind)


def _of_translation(run: Run, record: dict[str, Any], metrics: dict[str, Any]) -> dict[str, str]:
    corpus, final, bleu = record["corpus"], metrics["final"], metrics["bleu"]
    source, target = corpus["languages"]["source"], corpus["languages"]["target"]
    pairs = corpus["parts"]["train"]["pairs"]
    return {
        "kind": f"translation model, {source} to {target}",
        "head": _head(run, "translation", [source, target]),
        "layers": f"{run.settings.encoder_layers} + {run.settings.decoder_layers}",
        "results": f"After {metrics['updates']:,} updates, the validation loss is {final['valid_loss']:.3f} "
        f"(label-smoothed). BLEU on {bleu['sentences']['test']:,} test sentences is {final['test_bleu']:.2f} "
        f"(`{bleu['tokenised']}`)"
        + (f", and chrF {final['test_chrf']:.2f} (`{bleu['chrf']}`)." if bleu.get("chrf") else "."),
        "text": f"{corpus['title']}: {pairs:,} pairs of sentences. Origin: {corpus['origin']}.",
        "licence": f"Licence of the text: {corpus['licence']}. It may bind these weights too.",
        "auto": "Seq2SeqLM",
        **translation_code(*(SOURCES[run.corpus.source].line(run.corpus, language) for language in (source, target))),
        "note": "`prepared` makes of running text what the model was trained on, as the study did, and `running` makes "
        "running text of it again, which was scored. `preln translate` does both, and attaches more quotation marks.",
    }


def translation_code(source: LinePreparation, target: LinePreparation) -> dict[str, str]:
    """The code that translates running text, without this package, and its imports."""
    imports, moses = ["import transformers", "import unicodedata"], []
    preparation = ["line = ' '.join(line.split())"]
    if source.lowercase:
        is_dotless = language_of(source.language).lower("I") == "ı"
        preparation.insert(0, f"line = line{'.translate({73: 305, 304: 105})' if is_dotless else ''}.lower()")
    if source.is_by_moses:
        imports += ["import re", "import sacremoses"]
        moses.append(f"tokeniser = sacremoses.MosesTokenizer({language_of(source.language).moses!r})")
        if source.whole_words:
            imports.append("import regex")
            moses += [
                f"tokeniser.PAD_NOT_ISALNUM = regex.compile({PADDED!r}), r' \\1 '",
                f'tokeniser.NON_SPECIFIC_APOSTROPHE = regex.compile({PADDED_APOSTROPHE!r}), " \' "',
            ]
        preparation.insert(0, "line = tokeniser.tokenize(line, escape=True, return_str=True)")
        preparation.append(f"line = re.sub({GLUED_FULL_STOP!r}, r'\\1 .', line)")
    preparation.insert(0, "line = unicodedata.normalize('NFC', line)")
    running = "line"
    if target.is_by_moses:
        imports.append("import sacremoses")
        moses.append(f"detokeniser = sacremoses.MosesDetokenizer({language_of(target.language).moses!r})")
        running = "detokeniser.detokenize(line.split(), return_str=True, unescape=True)"
    body = "\n".join(f"    {statement}" for statement in [*preparation, "return line"])
    lines = "".join(f"{line}\n" for line in moses)
    return {
        "imports": "\n".join(sorted(set(imports))),
        "code": _TRANSLATE.format(moses=lines, preparation=body, running=running),
    }


def _of_bert(run: PretrainingRun, record: dict[str, Any], metrics: dict[str, Any]) -> dict[str, str]:
    return {
        "kind": "BERT",
        "head": _head(run, "fill-mask", ["en"]),
        "auto": "MaskedLM",
        "imports": "import transformers",
        "code": _GUESS,
        "note": "Sequences begin with `<s>`, and sentences end with `</s>`, as in the pre-training. " + _ENGLISH,
        **_of_english(run, record, metrics),
    }


def _of_language(run: LanguageRun, record: dict[str, Any], metrics: dict[str, Any]) -> dict[str, str]:
    are_pieces = run.settings.tokens == "bpe"
    return {
        "kind": "language model",
        "head": _head(run, "text-generation", ["en"]),
        "auto": "CausalLM",
        "imports": ("import sentencepiece\n" if are_pieces else "") + "import torch\nimport transformers",
        "code": _CONTINUE_PIECES if are_pieces else _CONTINUE_BYTES,
        "note": f"Its tokens are the {_PIECES if are_pieces else 'bytes of UTF-8'}. {_ENGLISH}",
        **_of_english(run, record, metrics),
    }


def _of_english(run: PretrainingRun | LanguageRun, record: dict[str, Any], metrics: dict[str, Any]) -> dict[str, str]:
    parts = record["text"]["parts"]["train"]
    return {
        "layers": str(run.settings.layers),
        "results": f"After {metrics['updates']:,} updates, the validation loss is "
        f"{metrics['final']['valid_loss']:.3f}.",
        "text": f"{parts['words']:,} words of English in {parts['documents']:,} documents, from: "
        f"`{json.dumps(record['text']['settings']['sources'])}`.",
        "licence": "The licences of these texts may bind these weights too.",
    }


def _head(run: Run | PretrainingRun | LanguageRun, task: str, languages: list[str]) -> str:
    tags = ["preln", PLACEMENTS[run.settings.placement].name]
    return yaml.safe_dump({"library_name": "transformers", "pipeline_tag": task, "language": languages, "tags": tags})
