"""Faults of long computations. Whatever happens to its files and processes, the same command ends with the records of
an undisturbed run, or says in a line what to do, after which it does."""
