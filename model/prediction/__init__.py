"""Prediction of run times: what a batch scheduler plans with in place of what owners promise."""

from gridtune.model.prediction.run_times import Ended, Prediction, Promise
