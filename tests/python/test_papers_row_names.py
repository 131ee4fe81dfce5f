"""Names of rows as pages print them."""

import pytest

from overspill.papers import row_names


@pytest.mark.parametrize(
    ("case", "metric", "expected"),
    [
        ("20 KB", "p99_qct_dctcp_less_dibs", "fig9, 20 KB: p99 QCT, DCTCP − DIBS"),
        ("CP by TCP, web_search", "reduction_of_p99_qct", "fig9, CP / TCP, web_search: reduction of p99 QCT"),
        ("3to1", "fct_without_by_PABO", "fig9, 3to1: FCT, without / PABO"),
        ("CP, ties by port", "goodput_by_theory", "fig9, CP, ties by port: goodput / theory"),
        ("300 qps, ECMP by packet less dibs", "p99_qct", "fig9, 300 qps, ECMP by packet − DIBS: p99 QCT"),
        ("alone", "drops_by_ttl", "fig9, alone: drops by TTL"),
        (
            "2000 qps",
            "time_with_less_than_10_percent_hot",
            "fig9, 2000 qps: time with less than 10 percent hot",
        ),
        ("P = 10 %", "delay_of_bounced_less_first", "fig9, P = 10%: delay of bounced − first"),
    ],
)
def test_differences_and_ratios_have_signs(case: str, metric: str, expected: str) -> None:
    assert row_names.format_row_name({"figure": "fig9", "case": case, "metric": metric}) == expected
