"""The jobs that a study asks for, and the identity of each."""
