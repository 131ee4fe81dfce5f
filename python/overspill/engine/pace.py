"""Number of events between two checks for an interrupt, adapted to their cost."""

AIM = 0.1  # seconds between two checks
FIRST, MOST = 64, 1 << 16  # events of the first chunk, and of the longest
GROWTH = 4  # from one chunk to the next, at most


class Pace:
    """Events of the next chunk, by what the last one cost.

    Results do not depend on it: a run that is advanced in other chunks comes to the same bits.
    """

    def __init__(self) -> None:
        self.events = FIRST

    def took(self, seconds: float) -> None:
        """Adapt to the time that the last chunk took."""
        fits = self.events * AIM / max(seconds, 1e-9)
        self.events = int(min(max(fits, 1), GROWTH * self.events, MOST))
