"""Random kernels for survival models (the fifth article of P3DM'08), and what they do not hide."""
