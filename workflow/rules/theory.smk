# The theory, measured: a job for each sweep of the model of the proofs, and for each translation model of figure 3.


rule measure_theory:
    """Measure one part of the theory, at initialisation or at the end of a run's warm-up."""
    input:
        unpack(lambda wildcards: inputs(MEASUREMENTS[wildcards.part])),
    output:
        run=f"{RESULTS}/theory/{{part}}/run.json",
        measurements=f"{RESULTS}/theory/{{part}}/measurements.csv",
    log:
        f"{LOGS}/measure_theory/{{part}}.log",
    benchmark:
        f"{LOGS}/measure_theory/{{part}}.tsv"
    conda:
        "../../environment.yml"
    threads: STUDY.execution.cpus
    resources:
        cpus_per_task=STUDY.execution.cpus,
        mem_mb=STUDY.execution.memory_mb,
        runtime=STUDY.execution.runtime_minutes,
        gpu=lambda wildcards: gpus_of(MEASUREMENTS[wildcards.part], STUDY),
    params:
        study=f"{RESULTS}/study.yaml",
        identity=lambda wildcards: digest(MEASUREMENTS[wildcards.part].identity),
        prepared=lambda wildcards: prepared_option(MEASUREMENTS[wildcards.part]),
        runs=f"{RESULTS}/translation",
    message:
        "Measure {wildcards.part}"
    shell:
        """
        exec 3>&2 &>{log:q}
        PRELN_CONSOLE=3 exec preln measure {params.study:q} {wildcards.part:q} \
            {params.prepared:q} \
            --runs {params.runs:q} \
            --out "$(dirname {output.run:q})"
        """
