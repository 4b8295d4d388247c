# From a source to binarised BPE pieces. A corpus's folder is named after its settings, so studies share it. Everything else
# waits for these rules, so their priority is the highest.


rule download:
    """Download a file of a corpus, a text or a task, and verify it."""
    output:
        "resources/downloads/{file}",
    log:
        "logs/corpora/download/{file}.log",
    benchmark:
        "logs/corpora/download/{file}.tsv"
    priority: 20
    localrule: True
    message:
        "Download {wildcards.file}"
    shell:
        """
        exec &> >(tee {log:q})
        preln download {wildcards.file:q} \
            --out "$(dirname {output:q})"
        """


rule prepare_text:
    """Tokenise, clean and split a corpus into train, valid and test."""
    input:
        lambda wildcards: sources(CORPORA[wildcards.corpus]),
    output:
        text=directory("resources/corpora/{corpus}/text"),
    log:
        "logs/corpora/{corpus}/prepare_text.log",
    benchmark:
        "logs/corpora/{corpus}/prepare_text.tsv"
    priority: 20
    threads: 2
    resources:
        cpus_per_task=2,
    params:
        downloads=located(DOWNLOADS_FOLDER),
        # With `output` among its arguments it is no reason to run again: the folder is named after all that matters.
        corpus=lambda wildcards, output: CORPORA[wildcards.corpus].model_dump_json(),
        version=PREPARATION_VERSION,
    message:
        "Prepare the text of {wildcards.corpus}"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-text \
            --corpus {params.corpus:q} \
            --downloads {params.downloads:q} \
            --processes {resources.cpus_per_task} \
            --out {output.text:q}
        """


rule prepare_bpe:
    """Train the joint BPE model and split the text into its pieces."""
    input:
        text=lambda wildcards: same(CORPORA[wildcards.corpus], f"resources/corpora/{wildcards.corpus}/text"),
    output:
        pieces=directory("resources/corpora/{corpus}/bpe"),
    log:
        "logs/corpora/{corpus}/prepare_bpe.log",
    benchmark:
        "logs/corpora/{corpus}/prepare_bpe.tsv"
    priority: 20
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
        pieces=lambda wildcards: same(CORPORA[wildcards.corpus], f"resources/corpora/{wildcards.corpus}/bpe"),
    output:
        binary=directory("resources/corpora/{corpus}/binary"),
    log:
        "logs/corpora/{corpus}/binarise.log",
    benchmark:
        "logs/corpora/{corpus}/binarise.tsv"
    priority: 20
    params:
        source=lambda wildcards: CORPORA[wildcards.corpus].languages[0],
        target=lambda wildcards: CORPORA[wildcards.corpus].languages[1],
        version=PREPARATION_VERSION,
    message:
        "Binarise {wildcards.corpus}"
    shell:
        """
        exec &> >(tee {log:q})
        preln binarise \
            --pieces {input.pieces:q} \
            --source {params.source} \
            --target {params.target} \
            --out {output.binary:q}
        """


rule prepare_english:
    """Split, tokenise and lower-case the sentences of English documents, and divide these into train and valid."""
    input:
        lambda wildcards: [path for source in PRETRAINING_TEXTS[wildcards.text].sources for path in sources(source)],
    output:
        text=directory("resources/texts/{text}/text"),
    log:
        "logs/texts/{text}/prepare_english.log",
    benchmark:
        "logs/texts/{text}/prepare_english.tsv"
    priority: 20
    threads: 2
    resources:
        cpus_per_task=2,
    params:
        downloads=located(DOWNLOADS_FOLDER),
        # As for a corpus: the folder is named after all that matters.
        text=lambda wildcards, output: PRETRAINING_TEXTS[wildcards.text].model_dump_json(),
        version=ENGLISH_VERSION,
    message:
        "Prepare the English text of {wildcards.text}"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-english \
            --text {params.text:q} \
            --downloads {params.downloads:q} \
            --processes {resources.cpus_per_task} \
            --out {output.text:q}
        """


rule prepare_english_bpe:
    """Train the BPE model of an English text and split the text into its pieces."""
    input:
        text=lambda wildcards: same(PRETRAINING_TEXTS[wildcards.text], f"resources/texts/{wildcards.text}/text"),
    output:
        pieces=directory("resources/texts/{text}/bpe"),
    log:
        "logs/texts/{text}/prepare_english_bpe.log",
    benchmark:
        "logs/texts/{text}/prepare_english_bpe.tsv"
    priority: 20
    threads: 2
    resources:
        cpus_per_task=2,
    params:
        vocabulary=lambda wildcards: PRETRAINING_TEXTS[wildcards.text].vocabulary,
        version=ENGLISH_VERSION,
    message:
        "Train the BPE of {wildcards.text}"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-english-bpe \
            --text {input.text:q} \
            --vocabulary {params.vocabulary} \
            --threads {resources.cpus_per_task} \
            --out {output.pieces:q}
        """


rule binarise_english:
    """Binarise the pieces of an English text for fairseq."""
    input:
        pieces=lambda wildcards: same(PRETRAINING_TEXTS[wildcards.text], f"resources/texts/{wildcards.text}/bpe"),
    output:
        binary=directory("resources/texts/{text}/binary"),
    log:
        "logs/texts/{text}/binarise_english.log",
    benchmark:
        "logs/texts/{text}/binarise_english.tsv"
    priority: 20
    params:
        version=ENGLISH_VERSION,
    message:
        "Binarise {wildcards.text}"
    shell:
        """
        exec &> >(tee {log:q})
        preln binarise-english \
            --pieces {input.pieces:q} \
            --out {output.binary:q}
        """


rule prepare_task:
    """Check a task's pairs of sentences and split them into the pieces of a text's BPE model."""
    input:
        lambda wildcards: sources(TASKS[wildcards.task]),
        bpe="resources/texts/{text}/bpe",
    output:
        pieces=directory("resources/tasks/{task}/{text}-{longest}/pieces"),
    log:
        "logs/tasks/{task}/{text}-{longest}/prepare_task.log",
    benchmark:
        "logs/tasks/{task}/{text}-{longest}/prepare_task.tsv"
    priority: 20
    localrule: True
    params:
        downloads=located(DOWNLOADS_FOLDER),
        task=lambda wildcards: TASKS[wildcards.task].model_dump_json(),
        version=ENGLISH_VERSION,
    message:
        "Prepare the task {wildcards.task}"
    shell:
        """
        exec &> >(tee {log:q})
        preln prepare-task \
            --task {params.task:q} \
            --downloads {params.downloads:q} \
            --model {input.bpe:q}/bpe.model \
            --longest {wildcards.longest} \
            --out {output.pieces:q}
        """


rule binarise_task:
    """Binarise a task's pieces for fairseq, with the dictionary of the text."""
    input:
        pieces="resources/tasks/{task}/{text}-{longest}/pieces",
        text="resources/texts/{text}/binary",
    output:
        binary=directory("resources/tasks/{task}/{text}-{longest}/binary"),
    log:
        "logs/tasks/{task}/{text}-{longest}/binarise_task.log",
    benchmark:
        "logs/tasks/{task}/{text}-{longest}/binarise_task.tsv"
    priority: 20
    localrule: True
    message:
        "Binarise the task {wildcards.task}"
    shell:
        """
        exec &> >(tee {log:q})
        preln binarise-task \
            --pieces {input.pieces:q} \
            --dictionary {input.text:q}/dict.txt \
            --out {output.binary:q}
        """
