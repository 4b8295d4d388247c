# BERT: one pre-training a run, and one fine-tuning job a checkpoint and task.


rule pretrain:
    """Pre-train one run, keeping the weights of its checkpoints; continues where an earlier attempt stopped."""
    input:
        lambda wildcards: inputs(JOBS["pretraining"][wildcards.run]),
    output:
        run=f"{RESULTS}/pretraining/{{run}}/run.json",
        curve=f"{RESULTS}/pretraining/{{run}}/curve.csv",
        metrics=f"{RESULTS}/pretraining/{{run}}/metrics.json",
    log:
        f"{LOGS}/pretrain/{{run}}.log",
    benchmark:
        f"{LOGS}/pretrain/{{run}}.tsv"
    # The longest jobs of all, and fine-tunings wait for them.
    priority: 10
    threads: lambda wildcards: JOBS["pretraining"][wildcards.run].execution.cores
    resources:
        **resources_of(lambda wildcards: JOBS["pretraining"][wildcards.run]),
    params:
        **asked(lambda wildcards: JOBS["pretraining"][wildcards.run], "Pre-train"),
    message:
        "{params.does} {wildcards.run}"
    shell:
        """
        exec 3>&2 &>{log:q}
        {params.lay_out}
        PRELN_CONSOLE=3 exec preln pretrain {params.study:q} {wildcards.run:q} \
            {params.prepared:q} \
            --out "$(dirname {output.run:q})"
        """


rule finetune:
    """Fine-tune one checkpoint on one task, at every point of the grid; continues where an earlier attempt stopped."""
    input:
        lambda wildcards: inputs(JOBS["finetuning"][wildcards.finetuning]),
    output:
        run=f"{RESULTS}/finetuning/{{finetuning}}/run.json",
        scores=f"{RESULTS}/finetuning/{{finetuning}}/scores.csv",
    log:
        f"{LOGS}/finetune/{{finetuning}}.log",
    benchmark:
        f"{LOGS}/finetune/{{finetuning}}.tsv"
    priority: 5
    threads: lambda wildcards: JOBS["finetuning"][wildcards.finetuning].execution.cores
    resources:
        **resources_of(lambda wildcards: JOBS["finetuning"][wildcards.finetuning]),
    params:
        **asked(lambda wildcards: JOBS["finetuning"][wildcards.finetuning], "Fine-tune"),
        runs=located(f"{RESULTS}/pretraining"),
    message:
        "{params.does} {wildcards.finetuning}"
    shell:
        """
        exec 3>&2 &>{log:q}
        {params.lay_out}
        PRELN_CONSOLE=3 exec preln finetune {params.study:q} {wildcards.finetuning:q} \
            {params.prepared:q} \
            --runs {params.runs:q} \
            --out "$(dirname {output.run:q})"
        """
