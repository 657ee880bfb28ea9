"""The optimisation problems of tabprotect as algebra (Pyomo), one file a problem, to be read beside the papers.

The fast engines are held against these models in the tests; ``engine="pyomo"`` runs them with any solver that Pyomo
knows. Every file has ``build(problem, ...) -> ConcreteModel`` and ``solve(problem, ..., solver=...)``.
"""
