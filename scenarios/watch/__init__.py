"""A live view of a scenario in the browser: its sites, users and objectives as a run goes on, and controls.

`commands.watch` serves it; needs the extra `watch`.
"""
