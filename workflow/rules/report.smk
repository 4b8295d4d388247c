# Figures and tables. They are cheap, so they follow the modules that compute them.


rule draw_figure:
    """Draw one of the paper's figures from the study's runs."""
    input:
        records=lambda wildcards: records(in_figure(wildcards.figure)),
        code=lambda wildcards: code(f"figure_{wildcards.figure}.py", "drawing.py", *DRAWN_WITH),
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
        grid=lambda wildcards: digest_of(in_figure(wildcards.figure)),
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
        code=code("tables.py", *DRAWN_WITH),
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
        grid=digest_of(RUNS.values()),
    message:
        "Tabulate the runs"
    shell:
        """
        exec &> >(tee {log:q})
        preln table {params.study:q} \
            --out {output.csv:q} \
            --out {output.markdown:q} \
            --out {output.latex:q}
        """
