"""A reproduction of "On Layer Normalization in the Transformer Architecture" (Xiong et al., 2020)."""

__version__ = "0.1.0"
DISTRIBUTION = "norm-placement"
"""The package's name for pip: the `preln` of PyPI is another project."""
