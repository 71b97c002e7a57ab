"""The decisions of a computing grid: what brokers prefer, what jobs require, who gets a portal's slots.

Pure rules; the actors are in `agents/wms`.
"""
