"""Number of events between two checks for an interrupt, adapted to their cost."""

AIM = 0.1  # seconds between two checks
FIRST, MOST = 64, 1 << 16  # events: first chunk, and longest chunk
GROWTH = 4  # largest factor from one chunk to the next


class Pace:
    """Number of events in the next chunk of a run, by the duration of the last one.

    Results do not depend on it: a run that is advanced in other chunks is bit-identical.
    """

    def __init__(self) -> None:
        self.events = FIRST

    def took(self, seconds: float) -> None:
        """Adapts the next chunk to the duration of the last one."""
        fits = self.events * AIM / max(seconds, 1e-9)
        self.events = int(min(max(fits, 1), GROWTH * self.events, MOST))
