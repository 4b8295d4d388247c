# Figures and tables, from the catalogue. They are cheap, so they follow the code that makes them. And the study's records.


rule draw_figure:
    """Draw a figure from the records of what it shows."""
    input:
        lambda wildcards: made_from(FIGURES[wildcards.figure]),
    output:
        pdf=f"{RESULTS}/figures/figure-{{figure}}.pdf",
        png=report(
            f"{RESULTS}/figures/figure-{{figure}}.png",
            caption="../report/caption.rst",
            category="Figures",
            labels=lambda wildcards: {"figure": FIGURES[wildcards.figure].heading},
        ),
    log:
        f"{LOGS}/draw_figure/{{figure}}.log",
    benchmark:
        f"{LOGS}/draw_figure/{{figure}}.tsv"
    localrule: True
    params:
        study=STUDY_FILE,
        code=CODE,
        shown=lambda wildcards: CATALOGUE.content(CATALOGUE.jobs(FIGURES[wildcards.figure])),
        caption=lambda wildcards: FIGURES[wildcards.figure].caption,
    message:
        "Draw figure {wildcards.figure}"
    shell:
        """
        exec &> >(tee {log:q})
        preln figure {params.study:q} {wildcards.figure} \
            --out {output.pdf:q} \
            --out {output.png:q}
        """


rule write_table:
    """Write a table from the records of what it shows."""
    input:
        lambda wildcards: made_from(TABLES[wildcards.table]),
    output:
        csv=f"{RESULTS}/tables/{{table}}.csv",
        markdown=report(
            f"{RESULTS}/tables/{{table}}.md",
            caption="../report/caption.rst",
            category="Tables",
            labels=lambda wildcards: {"table": TABLES[wildcards.table].heading},
        ),
        latex=f"{RESULTS}/tables/{{table}}.tex",
    log:
        f"{LOGS}/write_table/{{table}}.log",
    benchmark:
        f"{LOGS}/write_table/{{table}}.tsv"
    localrule: True
    params:
        study=STUDY_FILE,
        code=CODE,
        shown=lambda wildcards: CATALOGUE.content(CATALOGUE.jobs(TABLES[wildcards.table])),
        caption=lambda wildcards: TABLES[wildcards.table].caption,
    message:
        "Write the table {wildcards.table}"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} {wildcards.table} \
            --out {output.csv:q} \
            --out {output.markdown:q} \
            --out {output.latex:q}
        """


rule judge_claims:
    """Judge each of the paper's claims by all that the study has recorded, and write every finding."""
    input:
        lambda wildcards: made_from(CLAIMS_TABLE),
    output:
        csv=f"{RESULTS}/claims.csv",
        markdown=report(
            f"{RESULTS}/claims.md",
            caption="../report/caption.rst",
            category="Claims",
            labels={"table": CLAIMS_TABLE.heading},
        ),
        findings=f"{RESULTS}/findings.csv",
    log:
        f"{LOGS}/judge_claims.log",
    benchmark:
        f"{LOGS}/judge_claims.tsv"
    localrule: True
    params:
        study=STUDY_FILE,
        code=CODE,
        shown=CATALOGUE.content(CATALOGUE.everything),
        caption=CLAIMS_TABLE.caption,
    message:
        "Judge the paper's claims"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} claims \
            --out {output.csv:q} \
            --out {output.markdown:q}
        preln table {params.study:q} findings --out {output.findings:q}
        """


rule write_report:
    """Write the report: the finding, the verdicts, every figure and table, the cost, and the deviations, in one page."""
    input:
        claims=f"{RESULTS}/claims.csv",
        figures=[f"{RESULTS}/{file}" for file in CATALOGUE.pictures() if file.endswith(".png")],
    output:
        f"{RESULTS}/{REPORT}",
    log:
        f"{LOGS}/write_report.log",
    benchmark:
        f"{LOGS}/write_report.tsv"
    localrule: True
    params:
        study=STUDY_FILE,
        code=CODE,
        shown=CATALOGUE.content(CATALOGUE.everything),
    message:
        "Write the report"
    shell:
        """
        exec &> >(tee {log:q})
        preln report {params.study:q} --out {output:q}
        """


rule write_explorer:
    """Write the explorer, a page with every recorded run of the benches and maps. It is of all their studies, so no study
    asks for it; it is made again when a record of one changes."""
    input:
        [f"results/{study}/{RECORDS}" for study in benches(Path(located("results")))],
    output:
        "results/explorer.html",
    log:
        "logs/write_explorer.log",
    benchmark:
        "logs/write_explorer.tsv"
    localrule: True
    params:
        code=CODE,
        results=lambda wildcards, output: Path(output[0]).parent,
    message:
        "Write the explorer"
    shell:
        """
        exec &> >(tee {log:q})
        preln explorer {params.results:q} --out {output:q}
        """


rule write_records:
    """Write the records of all jobs of the study to one file, with which they come in a clone."""
    input:
        lambda wildcards: made_from(CLAIMS_TABLE),
    output:
        f"{RESULTS}/{RECORDS}",
    log:
        f"{LOGS}/write_records.log",
    benchmark:
        f"{LOGS}/write_records.tsv"
    localrule: True
    params:
        study=STUDY_FILE,
    message:
        "Write the records"
    shell:
        """
        exec &> >(tee {log:q})
        preln records {params.study:q} --out "$(dirname {output:q})"
        """
