"""What all trainings share: their state, how they go on, and the machine."""
