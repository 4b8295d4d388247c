"""Parts of all trainings: their state, their continuation, and the machine."""
