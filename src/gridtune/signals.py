"""Signals that end a command as Ctrl-C does: what is finished is kept."""

from __future__ import annotations

import signal


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, SIGTERM, and the end of the terminal unless it is to be outlived, as `nohup` says."""
    ends = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    return ends
