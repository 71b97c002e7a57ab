"""Where studies are kept: journal files and databases.

All are Optuna storages, so Optuna's own tools read them.
"""
