"""Transformations asked for by the names of loops: what loops are called, the verbs, and how all of it is written."""

from affdsl.schedule.schedule import IllegalTransform as IllegalTransform
from affdsl.schedule.schedule import Schedule as Schedule
from affdsl.schedule.schedule import ScheduleError as ScheduleError
