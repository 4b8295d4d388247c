# Figures and tables. They are cheap, so they follow the modules that compute them.


rule draw_figure:
    """Draw one of the paper's figures, or one of the theory, from the study's records."""
    input:
        records=lambda wildcards: drawn_from(wildcards.figure),
        code=lambda wildcards: code("core.save_figure", products.module_of_figure(wildcards.figure)),
    output:
        pdf=f"{RESULTS}/figures/figure-{{figure}}.pdf",
        png=report(
            f"{RESULTS}/figures/figure-{{figure}}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        f"{LOGS}/draw_figure/{{figure}}.log",
    benchmark:
        f"{LOGS}/draw_figure/{{figure}}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=f"{RESULTS}/study.yaml",
        drawn=lambda wildcards: products.content(STUDY, shown_in(wildcards.figure)),
    message:
        "Draw figure {wildcards.figure}"
    shell:
        """
        exec &> >(tee {log:q})
        preln figure {params.study:q} {wildcards.figure} \
            --out {output.pdf:q} \
            --out {output.png:q}
        """


rule tabulate_runs:
    """Write the table of all runs of the study."""
    input:
        records=records(RUNS.values()),
        code=code("translation.tables"),
    output:
        csv=f"{RESULTS}/tables/runs.csv",
        markdown=report(
            f"{RESULTS}/tables/runs.md",
            caption="../report/runs-table.rst",
            category="Tables",
            labels={"table": "runs"},
        ),
        latex=f"{RESULTS}/tables/runs.tex",
    log:
        f"{LOGS}/tabulate_runs.log",
    benchmark:
        f"{LOGS}/tabulate_runs.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=f"{RESULTS}/study.yaml",
        grid=products.content(STUDY, RUNS.values()),
    message:
        "Tabulate the runs"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} runs \
            --out {output.csv:q} \
            --out {output.markdown:q} \
            --out {output.latex:q}
        """


rule tabulate_theory:
    """Write a table of the theory: predictions beside measurements, or figure 3 in numbers."""
    input:
        measurements=measurements(MEASUREMENTS.values()),
        code=code("theory.tables"),
    output:
        csv=f"{RESULTS}/tables/{{theory_table}}.csv",
        markdown=report(
            f"{RESULTS}/tables/{{theory_table}}.md",
            caption="../report/theory-table.rst",
            category="Tables",
            labels={"table": "{theory_table}"},
        ),
        latex=f"{RESULTS}/tables/{{theory_table}}.tex",
    log:
        f"{LOGS}/tabulate_theory/{{theory_table}}.log",
    benchmark:
        f"{LOGS}/tabulate_theory/{{theory_table}}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=f"{RESULTS}/study.yaml",
        measured=products.content(STUDY, MEASUREMENTS.values()),
    message:
        "Tabulate the theory: {wildcards.theory_table}"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} {wildcards.theory_table} \
            --out {output.csv:q} \
            --out {output.markdown:q} \
            --out {output.latex:q}
        """


rule tabulate_pretraining:
    """Write a table of BERT: the pre-training runs, or the fine-tuned checkpoints."""
    input:
        records=pretrained(),
        code=code("pretraining.tables"),
    output:
        csv=f"{RESULTS}/tables/{{bert_table}}.csv",
        markdown=report(
            f"{RESULTS}/tables/{{bert_table}}.md",
            caption="../report/pretraining-table.rst",
            category="Tables",
            labels={"table": "{bert_table}"},
        ),
        latex=f"{RESULTS}/tables/{{bert_table}}.tex",
    log:
        f"{LOGS}/tabulate_pretraining/{{bert_table}}.log",
    benchmark:
        f"{LOGS}/tabulate_pretraining/{{bert_table}}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=f"{RESULTS}/study.yaml",
        shown=products.content(STUDY, [*PRETRAININGS.values(), *FINETUNINGS.values()]),
    message:
        "Tabulate BERT: {wildcards.bert_table}"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} {wildcards.bert_table} \
            --out {output.csv:q} \
            --out {output.markdown:q} \
            --out {output.latex:q}
        """


rule judge_claims:
    """Judge each of the paper's claims by all that the study has recorded."""
    input:
        records=[*records(RUNS.values()), *pretrained(), *measurements(MEASUREMENTS.values())],
        code=code("claims.ledger"),
    output:
        csv=f"{RESULTS}/claims.csv",
        markdown=report(
            f"{RESULTS}/claims.md",
            caption="../report/claims.rst",
            category="Claims",
            labels={"table": "claims"},
        ),
    log:
        f"{LOGS}/judge_claims.log",
    benchmark:
        f"{LOGS}/judge_claims.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=f"{RESULTS}/study.yaml",
        judged=products.content(STUDY, EVERYTHING),
    message:
        "Judge the paper's claims"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} claims \
            --out {output.csv:q} \
            --out {output.markdown:q}
        """


rule write_report:
    """Write the report: the verdicts, every figure and table, the cost, and the deviations, in one page."""
    input:
        claims=f"{RESULTS}/claims.csv",
        figures=[f"{RESULTS}/figures/figure-{name}.png" for name in products.figures(STUDY, RUNS.values())],
        code=code("html.page"),
    output:
        f"{RESULTS}/report.html",
    log:
        f"{LOGS}/write_report.log",
    benchmark:
        f"{LOGS}/write_report.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=f"{RESULTS}/study.yaml",
        told=products.content(STUDY, EVERYTHING),
    message:
        "Write the report"
    shell:
        """
        exec &> >(tee {log:q})
        preln report {params.study:q} --out {output:q}
        """
