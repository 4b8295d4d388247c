"""A reproduction of "On Layer Normalization in the Transformer Architecture" (Xiong et al., 2020)."""

__version__ = "0.1.0"
