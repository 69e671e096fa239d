"""How the weights of the embedded backend are made: LitBank in, numpy arrays out."""
