"""Steps of a Transformer's training that are done in one go: the same mathematics as PyTorch's functions one by one,
with fewer numbers written to memory in between."""
