# The grid: one training a run.


rule train_translation:
    """Train one run, translate and score after each epoch; continues where an earlier attempt stopped."""
    input:
        lambda wildcards: inputs(JOBS["translation"][wildcards.run]),
    output:
        run=f"{RESULTS}/translation/{{run}}/run.json",
        curve=f"{RESULTS}/translation/{{run}}/curve.csv",
        metrics=f"{RESULTS}/translation/{{run}}/metrics.json",
    log:
        f"{LOGS}/train_translation/{{run}}.log",
    benchmark:
        f"{LOGS}/train_translation/{{run}}.tsv"
    # Short jobs, of priority 0, are left for the end, where they fill the cores.
    priority: 5
    threads: lambda wildcards: JOBS["translation"][wildcards.run].execution.cores
    resources:
        **resources_of(lambda wildcards: JOBS["translation"][wildcards.run]),
    params:
        **asked(lambda wildcards: JOBS["translation"][wildcards.run], "Train"),
    message:
        "{params.does} {wildcards.run}"
    shell:
        """
        exec 3>&2 &>{log:q}
        {params.lay_out}
        PRELN_CONSOLE=3 exec preln train {params.study:q} {wildcards.run:q} \
            {params.prepared:q} \
            --out "$(dirname {output.run:q})"
        """
