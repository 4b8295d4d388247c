# The whole workflow, from the repository's root: `snakemake --cores all`.
include: "workflow/Snakefile"


rule default:
    """Everything that the study asks for."""
    default_target: True
    input:
        rules.all.input,
    localrule: True
    message:
        "All results of the study are there"
