"""A search over the policies of a middleware, its answer and its Pareto front."""

import gridtune as gt

study = gt.search("dirac/search", budget=30, runs=90, seed=1, jobs=1)
print(study.summary)
study.plot("pairs", out="search_and_front.png")
