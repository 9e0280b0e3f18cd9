"""Training data of a scenario classifier, made as Appendix B of the paper does.

A teacher writes seed queries, a first model names real ones, a person checks some of its names, and
what is right by then trains the classifier and tests it.
"""
