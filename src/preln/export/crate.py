"""A study's results as an RO-Crate: its files with their origin, in a form that archives of research read.

It follows the profile Process Run Crate 0.5, which builds on RO-Crate 1.1: each record is what one action of preln
made, at a commit, from the study and its text. What no record holds is left out: when an action ended, who ran it, and
the run of Snakemake as a whole, which the profile Workflow Run Crate is about.
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
from preln.jobs.base import Job
from preln.jobs.results import STUDY_FILE
from preln.jobs.runs import digest
from preln.records import packed
from preln.records.files import new_folder
from preln.report.catalogue import REPORT, Catalogue
from preln.report.core.figure import Figure
from preln.report.core.records import commit_name, hardware_line, own
from preln.report.core.table import Table

VERSION = "1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
"""What the profile adds to the vocabulary: checksums of files, and what an action used."""
LICENCES = "https://spdx.org/licenses"
# Some systems do not know the types of these files.
TYPES = {".csv": "text/csv", ".md": "text/markdown", ".tex": "application/x-tex", ".yaml": "application/yaml"}


def export(study: Study, results: Path, licence: str, out: Path) -> None:
    """Write what is done of a study as an RO-Crate: a folder of the same files, with `ro-crate-metadata.json`.

    Args:
        study: the study.
        results: folder of its results.
        licence: that of the results: an identifier of SPDX, or an address. RO-Crate 1.1 requires one.
        out: the new folder.

    Raises:
        PrelnError: if `out` is there already, or nothing of the study is done, or the licence is not known.
        RecordError: if a record cannot be used.
    """
    catalogue = Catalogue(study)
    done = [job for job in catalogue.everything if all(packed.exists(results / file) for file in job.files)]
    if not done:
        raise PrelnError(f"{results}: nothing of the study is done, so there is nothing to export")
    with new_folder(out) as folder:
        crate = _Crate(study, results, *_licence(licence))
        for job in done:
            crate.add_record(job)
        crate.add_pictures_and_tables(catalogue)
        crate.content.write(folder)


def _licence(given: str) -> tuple[str, str]:
    """The address and the name of a licence.

    Raises:
        PrelnError: if it is neither an identifier of SPDX nor an address.
    """
    if given.startswith(("https://", "http://")):
        return given, given
    # Neither two licences, nor one that only its author knows: no address says what these are.
    if re.fullmatch(r"(?!LicenseRef)[\w.-]+", given, re.IGNORECASE):
        with suppress(InvalidLicenseExpression):
            name = canonicalize_license_expression(given)
            return f"{LICENCES}/{name}", name
    raise PrelnError(
        f"--licence {given}: no identifier of {LICENCES}; give one, such as CC-BY-4.0, or an address that begins with "
        "https://"
    )


class _Crate:
    """The crate of a study.

    Attributes:
        content: the crate as the library has it.
    """

    def __init__(self, study: Study, results: Path, address: str, licence: str) -> None:
        self.results = results
        self.content = crate = ROCrate(version=VERSION)
        crate.metadata.extra_contexts.append(TERMS)
        crate.name = f"Results of the study {study.study} of preln"
        about = f'A study of the experiments of "{PAPER_TITLE}" (Xiong et al., 2020).'
        crate.description = f"{study.description}. {about}" if study.description else about
        crate.datePublished = datetime.now(UTC)
        crate.license = self._entity(address, "CreativeWork", name=licence, description="The licence of the results.")
        paper = self._entity(PAPER, "ScholarlyArticle", name=PAPER_TITLE, author="Xiong et al.", datePublished="2020")
        crate.root_dataset["citation"] = paper
        profile = self._entity(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
        crate.root_dataset["conformsTo"] = profile
        self.study = self._file(STUDY_FILE, "The study: what the jobs were asked for.")

    def add_record(self, job: Job) -> None:
        """Add the record of a job, and the action that made it."""
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
            self._value(f"{action.id}/{name}", name, value) for name, value in record["hardware"].items() if value
        ]
        self.content.root_dataset.append_to("mentions", action)

    def add_pictures_and_tables(self, catalogue: Catalogue) -> None:
        """Add the figures and tables that are there, each with the records that it is made from, and the report."""
        entries: list[Figure[Any] | Table[Any]] = [*catalogue.figures.values(), *catalogue.tables.values()]
        for entry in entries:
            records = [found for file in catalogue.records(entry) if (found := self.content.dereference(file))]
            for file in entry.files:
                if (self.results / file).is_file():
                    self._file(file, entry.caption, name=entry.heading, isBasedOn=records)
        if (self.results / REPORT).is_file():
            self._file(REPORT, "All of it on one page.")

    def _software(self, record: dict[str, Any]) -> Entity:
        """preln at the commit of a record, with the packages that computed."""
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
        """The text that a record's job read, with its licence where the record says one."""
        found = []
        if corpus := record.get("corpus"):
            about = {"name": corpus["title"], "description": corpus["origin"], "license": corpus["licence"]}
            found.append(self._text(corpus["settings"], about))
        if text := record.get("text"):
            names = ", ".join(source["source"] for source in text["settings"]["sources"])
            about = {"name": f"English text: {names}", "license": "as the owners of the texts say"}
            found.append(self._text(text["settings"], about))
        return found

    def _text(self, settings: dict[str, Any], about: dict[str, str]) -> Entity:
        """A text by its settings; it is not in the crate, for some may not be given away."""
        return self._entity(f"#text-{digest(settings)}", "Dataset", **about)

    def _file(self, file: str, description: str, **properties: Any) -> File:
        """A file of the results. Where two actions or entries have it, it is one."""
        path = self.results / file
        content = packed.read_bytes(path)
        described = {
            **{"name": file, "description": description},
            **{"sha256": hashlib.sha256(content).hexdigest(), "contentSize": str(len(content))},
            "encodingFormat": TYPES.get(path.suffix) or mimetypes.guess_type(path)[0],
        }
        source = path if path.exists() else BytesIO(content)
        return self.content.add_file(source, file, properties={**described, **properties})

    def _value(self, identifier: str, name: str, value: Any) -> Entity:
        return self._entity(identifier, "PropertyValue", name=name, value=value)

    def _entity(self, identifier: str, kind: str, **properties: Any) -> Entity:
        """What is described, and is no file of the crate; of one identifier there is one."""
        known = self.content.dereference(identifier)
        return known or self.content.add(ContextEntity(self.content, identifier, {"@type": kind, **properties}))


def _seeds(identity: dict[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    """The seeds of an identity and of its parts, by where they stand: `seed`, `corpus_settings.seed`."""
    for name, value in identity.items():
        if isinstance(value, dict):
            yield from _seeds(value, f"{under}{name}.")
        elif name in ("seed", "seeds"):
            # A list of one is written as its value.
            yield f"{under}{name}", value[0] if isinstance(value, list) and len(value) == 1 else value
