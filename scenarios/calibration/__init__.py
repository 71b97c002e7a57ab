"""Calibration: settings of a batch site under which the replay of a log waits as the log did."""

from gridtune.scenarios.calibration.fit import Calibration, calibrate
from gridtune.scenarios.calibration.report import report_lines
from gridtune.scenarios.calibration.written import scenario_text
