# From a source to binarised BPE pieces. A corpus's folder is named after its settings, so studies share it.


rule download_iwslt14:
    """Download the IWSLT14 archive and verify it."""
    output:
        archive=IWSLT14_ARCHIVE,
    log:
        "logs/corpora/download_iwslt14.log",
    benchmark:
        "logs/corpora/download_iwslt14.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        corpus='{"source": "iwslt14"}',
    message:
        "Download the IWSLT14 archive"
    shell:
        """
        exec &> >(tee {log:q})
        preln download \
            --corpus {params.corpus:q} \
            --out "$(dirname {output.archive:q})"
        """


rule prepare_text:
    """Tokenise, clean and split a corpus into train, valid and test."""
    input:
        lambda wildcards: text_sources(CORPORA[wildcards.corpus]),
    output:
        text=directory("resources/corpora/{corpus}/text"),
    log:
        "logs/corpora/{corpus}/prepare_text.log",
    benchmark:
        "logs/corpora/{corpus}/prepare_text.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        cpus_per_task=2,
    params:
        corpus=corpus_json,
        version=PREPARATION_VERSION,
    message:
        "Prepare the text of {wildcards.corpus}"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-text \
            --corpus {params.corpus:q} \
            --downloads resources/downloads \
            --processes {resources.cpus_per_task} \
            --out {output.text:q}
        """


rule prepare_bpe:
    """Train the joint BPE model and split the text into its pieces."""
    input:
        text="resources/corpora/{corpus}/text",
    output:
        pieces=directory("resources/corpora/{corpus}/bpe"),
    log:
        "logs/corpora/{corpus}/prepare_bpe.log",
    benchmark:
        "logs/corpora/{corpus}/prepare_bpe.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        cpus_per_task=2,
    params:
        vocabulary=lambda wildcards: CORPORA[wildcards.corpus].vocabulary,
        version=PREPARATION_VERSION,
    message:
        "Train the BPE of {wildcards.corpus}"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-bpe \
            --text {input.text:q} \
            --vocabulary {params.vocabulary} \
            --threads {resources.cpus_per_task} \
            --out {output.pieces:q}
        """


rule binarise:
    """Binarise the BPE pieces for fairseq, with one dictionary for both languages."""
    input:
        pieces="resources/corpora/{corpus}/bpe",
    output:
        binary=directory("resources/corpora/{corpus}/binary"),
    log:
        "logs/corpora/{corpus}/binarise.log",
    benchmark:
        "logs/corpora/{corpus}/binarise.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        cpus_per_task=2,
    params:
        source=lambda wildcards: languages(CORPORA[wildcards.corpus])[0],
        target=lambda wildcards: languages(CORPORA[wildcards.corpus])[1],
    message:
        "Binarise {wildcards.corpus}"
    shell:
        """
        exec &> >(tee {log:q})
        preln binarise \
            --pieces {input.pieces:q} \
            --source {params.source} \
            --target {params.target} \
            --workers {resources.cpus_per_task} \
            --out {output.binary:q}
        """
