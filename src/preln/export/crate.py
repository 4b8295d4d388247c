"""A study's results as an RO-Crate: its files with their origin, in a form that research archives read.

It follows the profile Process Run Crate 0.5, which builds on RO-Crate 1.1: each record is the result of an action of
preln, at a commit, on the study and its text. Facts that no record holds are left out: when an action ended, who ran
it, and Snakemake's run as a whole (the subject of the profile Workflow Run Crate).
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from rocrate.model import ContextEntity, Entity, File
from rocrate.rocrate import ROCrate

from preln.config import Study
from preln.errors import PrelnError
from preln.export.card import PAPER, PAPER_TITLE
from preln.jobs.base import Job, digest
from preln.jobs.results import STUDY_FILE
from preln.records import packed
from preln.records.files import replaced_folder
from preln.report.catalogue import REPORT, Catalogue
from preln.report.core.entries import Figure, Table
from preln.report.core.records import commit_name, hardware_line, own

VERSION = "1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
"""The profile's additions to the vocabulary: checksums of files, and resources used by an action."""
LICENCES = "https://spdx.org/licenses"
# `mimetypes` lacks these on some systems.
TYPES = {".csv": "text/csv", ".md": "text/markdown", ".tex": "application/x-tex", ".yaml": "application/yaml"}


def export(study: Study, results: Path, licence: str, out: Path) -> None:
    """Write a study's finished results as an RO-Crate: a new folder with their files and `ro-crate-metadata.json`. The
    licence, which RO-Crate 1.1 requires, is an SPDX identifier or an address.

    Raises:
        PrelnError: if `out` exists, or no job is finished, or the licence is unknown.
        RecordError: if a record cannot be used.
    """
    catalogue = Catalogue(study)
    done = [job for job in catalogue.everything if all(packed.exists(results / file) for file in job.files)]
    if not done:
        raise PrelnError(f"{results}: no job of the study is finished, so there is nothing to export")
    with replaced_folder(out, is_new=True) as folder:
        crate = _Crate(study, results, *_licence(licence))
        for job in done:
            crate.add_record(job)
        crate.add_pictures_and_tables(catalogue)
        crate.content.write(folder)


def _licence(licence: str) -> tuple[str, str]:
    """The address and the name of a licence.

    Raises:
        PrelnError: if it is neither an SPDX identifier nor an address.
    """
    if licence.startswith(("https://", "http://")):
        return licence, licence
    # Expressions with two licences and custom ones have no address.
    if re.fullmatch(r"(?!LicenseRef)[\w.-]+", licence, re.IGNORECASE):
        with suppress(InvalidLicenseExpression):
            name = canonicalize_license_expression(licence)
            return f"{LICENCES}/{name}", name
    raise PrelnError(
        f"--licence {licence}: not an identifier in {LICENCES}; give one, such as CC-BY-4.0, or an address that begins "
        "with https://"
    )


class _Crate:
    """The crate of a study, whose `content` is the library's crate."""

    def __init__(self, study: Study, results: Path, address: str, licence: str) -> None:
        self.results = results
        self.content = crate = ROCrate(version=VERSION)
        crate.metadata.extra_contexts.append(TERMS)
        crate.name = f"Results of the study {study.study} of preln"
        description = f'A study of the experiments of "{PAPER_TITLE}" (Xiong et al., 2020).'
        crate.description = f"{study.description}. {description}" if study.description else description
        crate.datePublished = datetime.now(UTC)
        crate.license = self._entity(address, "CreativeWork", name=licence, description="The licence of the results.")
        paper = self._entity(PAPER, "ScholarlyArticle", name=PAPER_TITLE, author="Xiong et al.", datePublished="2020")
        crate.root_dataset["citation"] = paper
        profile = self._entity(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
        crate.root_dataset["conformsTo"] = profile
        self.study = self._file(STUDY_FILE, "The study: what the jobs were asked for.")

    def add_record(self, job: Job) -> None:
        """Add a job's record, and the action that made it."""
        record = own(self.results / job.folder, job.identity)
        files = [self._file(file, f"{Path(file).name} of {job.id}.") for file in job.files]
        seeds = [self._value(f"#{job.folder}/{name}", name, seed) for name, seed in _seeds(job.identity)]
        action = self.content.add_action(
            self._software(record),
            identifier=f"#{job.folder}",
            object=[self.study, *self._texts(record), *seeds],
            result=files,
            properties={
                "name": f"{job.kind}: {job.id}",
                "description": f"Computed on {hardware_line(record['hardware'])}.",
                "actionStatus": "http://schema.org/CompletedActionStatus",
            },
        )
        if attempts := record.get("attempts"):
            action["startTime"] = attempts[0]["started"]
        action["resourceUsage"] = [
            self._value(f"{action.id}/{name}", name, value) for name, value in _values(record["hardware"]) if value
        ]
        self.content.root_dataset.append_to("mentions", action)

    def add_pictures_and_tables(self, catalogue: Catalogue) -> None:
        """Add the existing figures and tables, each with the records that it is made from, and the report."""
        entries: list[Figure[Any] | Table[Any]] = [*catalogue.figures.values(), *catalogue.tables.values()]
        for entry in entries:
            records = [record for file in catalogue.records(entry) if (record := self.content.dereference(file))]
            for file in entry.files:
                if (self.results / file).is_file():
                    self._file(file, entry.caption, name=entry.heading, isBasedOn=records)
        if (self.results / REPORT).is_file():
            self._file(REPORT, "All of it on one page.")

    def _software(self, record: dict[str, Any]) -> Entity:
        versions, commit = record["versions"], record["commit"]
        changed = " with changes that were not committed" if record["commit_changed"] else ""
        packages = [
            self._entity(f"#{name}-{version}", "SoftwareApplication", name=name, softwareVersion=version)
            for name, version in versions.items()
            if name != "preln"
        ]
        return self._entity(
            f"#preln-{digest({'commit': commit, 'changed': changed, 'versions': versions})}",
            "SoftwareApplication",
            name="preln",
            softwareVersion=f"{versions['preln']}, commit {commit_name(record)}{changed}",
            license=self._entity(f"{LICENCES}/MIT", "CreativeWork", name="MIT"),
            softwareRequirements=packages,
        )

    def _texts(self, record: dict[str, Any]) -> list[Entity]:
        """The texts by their settings; the texts themselves are not in the crate, as some may not be redistributed."""
        described = []
        if corpus := record.get("corpus"):
            properties = {"name": corpus["title"], "description": corpus["origin"], "license": corpus["licence"]}
            described.append((corpus["settings"], properties))
        if text := record.get("text"):
            names = ", ".join(source["source"] for source in text["settings"]["sources"])
            properties = {"name": f"English text: {names}", "license": "as the owners of the texts say"}
            described.append((text["settings"], properties))
        return [
            self._entity(f"#text-{digest(settings)}", "Dataset", **properties) for settings, properties in described
        ]

    def _file(self, file: str, description: str, **properties: Any) -> File:
        """A file in the results; added once, also if several actions or entries share it."""
        path = self.results / file
        content = packed.read_bytes(path)
        defaults = {
            "name": file,
            "description": description,
            "sha256": hashlib.sha256(content).hexdigest(),
            "contentSize": str(len(content)),
            "encodingFormat": TYPES.get(path.suffix) or mimetypes.guess_type(path)[0],
        }
        return self.content.add_file(BytesIO(content), file, properties={**defaults, **properties})

    def _value(self, identifier: str, name: str, value: Any) -> Entity:
        return self._entity(identifier, "PropertyValue", name=name, value=value)

    def _entity(self, identifier: str, kind: str, **properties: Any) -> Entity:
        """An entity that is not a file; added once for each identifier."""
        entity = self.content.dereference(identifier)
        return entity or self.content.add(ContextEntity(self.content, identifier, {"@type": kind, **properties}))


def _values(content: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values in a content and its parts, by their paths, such as `corpus_settings.seed`."""
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _values(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _seeds(identity: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The seeds in an identity, by their paths."""
    for path, value in _values(identity):
        if path.rpartition(".")[2] in ("seed", "seeds"):
            # A list of one is written as its value.
            yield path, value[0] if isinstance(value, list) and len(value) == 1 else value
