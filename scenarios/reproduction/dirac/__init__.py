"""RR-5576: meta-scheduling in DIRAC."""
