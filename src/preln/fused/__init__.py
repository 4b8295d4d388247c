"""Fused steps of a Transformer's training: the same mathematics as PyTorch's separate functions, with fewer numbers
written to memory in between."""
