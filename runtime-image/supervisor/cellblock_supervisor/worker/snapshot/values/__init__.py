"""How values are saved that pickle refuses. Pickles name functions of these modules."""
