"""What a study asks for, and what is part of each job's identity."""
