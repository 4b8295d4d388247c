"""The benchmarks' record keeps what was measured on each processor."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import fake_gpu, launches, record
from preln.records import provenance

OLD: dict[str, Any] = {"name": "train", "ratio": 1.5, "hardware": "AMD EPYC, 2 core(s) a run"}
ZEN_5 = "AMD EPYC, family 26, model 2, AVX512"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record with one entry, from before processors were told apart."""
    path = tmp_path / "record.json"
    path.write_text(json.dumps([OLD]))
    monkeypatch.setattr(record, "RECORD", path)


def test_a_measurement_takes_the_place_of_that_of_its_processor_and_a_count_that_of_any(kept: None) -> None:
    for ratio in (2.0, 3.0):
        record.put({**OLD, "ratio": ratio, "processor": ZEN_5})
    assert record.entries() == [OLD, {**OLD, "ratio": 3.0, "processor": ZEN_5}]
    assert [record.find("train", processor)["ratio"] for processor in ("AMD EPYC", ZEN_5)] == [1.5, 3.0]
    for value, processor in ((7, "one"), (6, "another")):
        record.put({"name": "launches", "value": value, "processor": processor, "hardware": processor})
    assert record.find("launches")["value"] == 6
    assert len(record.entries()) == 3


@pytest.mark.parametrize("counted", [6, 7, 8])
def test_a_count_of_launches_that_rises_is_refused_and_one_that_falls_is_recorded(
    counted: int, kept: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("launches-small", 7), ("syncs-small", 2)):
        record.put({"name": name, "value": value, "hardware": "any"})
    seen = launches.Outcome({"add": counted}, {"a line": 1}, {}, {})
    monkeypatch.setattr(launches, "RECORDED", {"small": launches.Case("iwslt", {})})
    monkeypatch.setattr(launches, "outcomes", lambda cases, library: [seen] * len(cases))
    monkeypatch.setattr(fake_gpu, "build", lambda folder: folder)
    monkeypatch.setattr(benchmarks, "ROOT", tmp_path)
    rises = pytest.raises(SystemExit, match=r"may only fall: launches-small is 8 \(recorded: 7\); if this is intended")
    with rises if counted > 7 else nullcontext():
        benchmarks.main(["launches"])
    assert record.find("launches-small")["value"] == min(counted, 7)
    assert record.find("syncs-small")["value"] == (2 if counted > 7 else 1)


def test_generations_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "PROCESSORS", tmp_path / "cpuinfo")
    result = []
    for family, model in ((25, 17), (26, 2)):
        core = f"vendor_id\t: AuthenticAMD\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: AMD EPYC\n"
        (tmp_path / "cpuinfo").write_text(f"processor\t: 0\n{core}\nprocessor\t: 1\n{core}\n")
        result.append(record.processor({"processor": "AMD EPYC", "loops": "AVX512"}))
    assert result == ["AMD EPYC, family 25, model 17, AVX512", ZEN_5]
