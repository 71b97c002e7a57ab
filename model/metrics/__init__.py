"""What a run is judged by: the registry of metrics, and how they are summed up over jobs and users.

New metrics are entered with `registry.define`; `summary.summarise` works all of them out.
"""
