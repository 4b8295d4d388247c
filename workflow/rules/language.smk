# Decoder-only language models: the tokens of a text, and one training a run.


rule prepare_tokens:
    """Write the tokens of an English text, its pieces or its bytes, to files that a training maps into memory."""
    input:
        lambda wildcards: f"resources/texts/{wildcards.text}/{ {'bpe': 'bpe', 'bytes': 'text'}[wildcards.tokens] }",
    output:
        tokens=directory("resources/texts/{text}/tokens-{tokens}"),
    log:
        "logs/texts/{text}/prepare_tokens-{tokens}.log",
    benchmark:
        "logs/texts/{text}/prepare_tokens-{tokens}.tsv"
    priority: 20
    params:
        prepared=lambda wildcards: located(f"resources/texts/{wildcards.text}"),
        version=LANGUAGE_VERSION,
    message:
        "Write the tokens of {wildcards.text} ({wildcards.tokens})"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-tokens \
            --prepared {params.prepared:q} \
            --tokens {wildcards.tokens} \
            --out {output.tokens:q}
        """


rule train_language:
    """Train one language model; continues where an earlier attempt stopped."""
    input:
        lambda wildcards: inputs(JOBS["language"][wildcards.run]),
    output:
        run=f"{RESULTS}/language/{{run}}/run.json",
        curve=f"{RESULTS}/language/{{run}}/curve.csv",
        metrics=f"{RESULTS}/language/{{run}}/metrics.json",
    log:
        f"{LOGS}/train_language/{{run}}.log",
    benchmark:
        f"{LOGS}/train_language/{{run}}.tsv"
    threads: lambda wildcards: JOBS["language"][wildcards.run].execution.cores
    resources:
        **resources_of(lambda wildcards: JOBS["language"][wildcards.run]),
    params:
        **asked(lambda wildcards: JOBS["language"][wildcards.run], "Train"),
    message:
        "{params.does} {wildcards.run}"
    shell:
        """
        exec 3>&2 &>{log:q}
        {params.lay_out}
        PRELN_CONSOLE=3 exec preln train-language {params.study:q} {wildcards.run:q} \
            {params.prepared:q} \
            --out "$(dirname {output.run:q})"
        """
