# A machine without Python, or a cluster without a compiler: docs/cluster.md says how the image is made and used.
# preln.def makes the same with Apptainer.
FROM debian:12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates g++ git make python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/preln
COPY . .
# `--build-arg TORCH=cpu` makes an image without CUDA.
ARG TORCH=cuda
# Git would not read a repository of root's for another user, and records would lack the commit.
RUN git config --system --add safe.directory /opt/preln \
    && PIP_NO_CACHE_DIR=1 make .venv/.ready PYTHON=python3 TORCH=$TORCH
ENV PATH=/opt/preln/.venv/bin:$PATH
