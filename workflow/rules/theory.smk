# The theory, measured: a job for each sweep of the model of the proofs, and for each model of figure 3; and a
# job for each run whose first updates are traced.


rule measure_theory:
    """Measure one part of the theory, at initialisation or at the end of a run's warm-up."""
    input:
        lambda wildcards: inputs(JOBS["theory"][wildcards.part]),
    output:
        run=f"{RESULTS}/theory/{{part}}/run.json",
        measurements=f"{RESULTS}/theory/{{part}}/measurements.csv",
    log:
        f"{LOGS}/measure_theory/{{part}}.log",
    benchmark:
        f"{LOGS}/measure_theory/{{part}}.tsv"
    threads: lambda wildcards: JOBS["theory"][wildcards.part].execution.cores
    resources:
        **resources_of(lambda wildcards: JOBS["theory"][wildcards.part]),
    params:
        **asked(lambda wildcards: JOBS["theory"][wildcards.part], "Measure"),
        runs=located(f"{RESULTS}/translation"),
    message:
        "{params.does} {wildcards.part}"
    shell:
        """
        exec 3>&2 &>{log:q}
        {params.lay_out}
        PRELN_CONSOLE=3 exec preln measure {params.study:q} {wildcards.part:q} \
            {params.prepared:q} \
            --runs {params.runs:q} \
            --out "$(dirname {output.run:q})"
        """


rule trace_first_updates:
    """Make the first updates of a run, and measure after each what the model computes."""
    input:
        lambda wildcards: inputs(JOBS["first-updates"][wildcards.run]),
    output:
        run=f"{RESULTS}/first-updates/{{run}}/run.json",
        updates=f"{RESULTS}/first-updates/{{run}}/updates.csv",
    log:
        f"{LOGS}/trace_first_updates/{{run}}.log",
    benchmark:
        f"{LOGS}/trace_first_updates/{{run}}.tsv"
    threads: lambda wildcards: JOBS["first-updates"][wildcards.run].execution.cores
    resources:
        **resources_of(lambda wildcards: JOBS["first-updates"][wildcards.run]),
    params:
        **asked(lambda wildcards: JOBS["first-updates"][wildcards.run], "Trace"),
    message:
        "{params.does} {wildcards.run}"
    shell:
        """
        exec 3>&2 &>{log:q}
        {params.lay_out}
        PRELN_CONSOLE=3 exec preln trace {params.study:q} {wildcards.run:q} \
            {params.prepared:q} \
            --out "$(dirname {output.run:q})"
        """
