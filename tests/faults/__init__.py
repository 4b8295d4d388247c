"""What can go wrong with a long computation is made to go wrong here. Whatever happens to its files and its processes,
the same command ends with the records of an undisturbed run, or says in a line what to do, after which it does."""
