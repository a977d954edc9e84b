"""Reports are about a machine whose roofline nobody has to measure."""

import pytest

from affdsl.optimize import forecast
from affdsl.report import report, times
from affdsl.seeing import profile
from tests.report.kernels import machine


@pytest.fixture(scope="session", autouse=True)
def known_machine():
    with pytest.MonkeyPatch.context() as patch:
        for module in (forecast, report, times, profile):
            patch.setattr(module, "roofline", machine)
        yield
