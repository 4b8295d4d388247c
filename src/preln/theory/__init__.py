"""The paper's theory, checked at initialisation: lemmas, theorem 1, boundedness, and the gradients of figure 3."""
