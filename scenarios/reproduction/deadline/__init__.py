"""RR-5335: deadline scheduling with priority."""
