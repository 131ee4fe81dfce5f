"""A key is a metric, what tells its parts apart, and which part."""

import pytest

from overspill.results import metrics
from overspill.results.key import Key, parsed


@pytest.mark.parametrize(
    ("text", "key", "registered"),
    [
        ("fct_p99", Key("fct_p99"), "fct_p99"),
        ("fct_p99[size=0-100KB]", Key("fct_p99", "size", "0-100KB"), "fct_p99"),
        ("drops[reason=buffer_full]", Key("drops", "reason", "buffer_full"), "drops_by_reason"),
        ("bounces[tier=agg]", Key("bounces", "tier", "agg"), "bounces_by_tier"),
        ("drops[traffic=a=b]", Key("drops", "traffic", "a=b"), "drops"),
        ("drops[traffic=[x]]", Key("drops", "traffic", "[x]"), "drops"),
    ],
)
def test_a_key_is_read_from_its_text_and_back(text: str, key: Key, registered: str) -> None:
    assert parsed(text) == key and str(key) == text
    assert key.registered == registered == metrics.base(text) and registered in metrics.REGISTRY
