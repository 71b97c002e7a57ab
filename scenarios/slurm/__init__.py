"""Slurm's own files: what of a slurm.conf a site of a scenario can have, and which of its lines change."""

from gridtune.scenarios.slurm.changes import SlurmChanges, slurm_changes
from gridtune.scenarios.slurm.seed import SlurmSeed, slurm_seed
