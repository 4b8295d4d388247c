# The grid: one training a run.


rule resolve_study:
    """Write the study with every default filled in, before anything else."""
    output:
        study=f"{RESULTS}/study.yaml",
    log:
        f"{LOGS}/resolve_study.log",
    benchmark:
        f"{LOGS}/resolve_study.tsv"
    priority: 100
    localrule: True
    conda:
        "preln"
    params:
        study=STUDY.model_dump_json(),
    message:
        "Resolve the study"
    shell:
        """
        exec &> >(tee {log:q})
        printf '%s' {params.study:q} | preln resolve /dev/stdin --out {output.study:q}
        """


rule train_translation:
    """Train one run, translate and score after each epoch; continues where an earlier attempt stopped."""

    # Which study the run is taken from changes nothing: params hold what does. Training reads the study's file,
    # but a newer one is no reason to train again.
    input:
        study=ancient(f"{RESULTS}/study.yaml"),
        text=lambda wildcards: f"{prepared(RUNS[wildcards.run])}/text",
        binary=lambda wildcards: f"{prepared(RUNS[wildcards.run])}/binary",
    output:
        run=f"{RESULTS}/translation/{{run}}/run.json",
        curve=f"{RESULTS}/translation/{{run}}/curve.csv",
        metrics=f"{RESULTS}/translation/{{run}}/metrics.json",
    log:
        f"{LOGS}/train_translation/{{run}}.log",
    benchmark:
        f"{LOGS}/train_translation/{{run}}.tsv"
    conda:
        "preln"
    threads: STUDY.execution.cpus
    resources:
        cpus_per_task=STUDY.execution.cpus,
        mem_mb=STUDY.execution.memory_mb,
        runtime=STUDY.execution.runtime_minutes,
        gpu=STUDY.execution.gpus,
    params:
        identity=lambda wildcards: digest(RUNS[wildcards.run].identity),
    message:
        "Train {wildcards.run}"
    shell:
        """
        exec &>{log:q}
        preln train {input.study:q} {wildcards.run:q} \
            --prepared "$(dirname {input.binary:q})" \
            --out "$(dirname {output.run:q})"
        """
