"""Number of events between two checks for an interrupt, adapted to their cost."""

CHUNK_SECONDS = 0.1  # seconds between two checks
FIRST_CHUNK, MAX_CHUNK = 64, 1 << 16  # events: first chunk, and longest chunk
MAX_GROWTH = 4  # largest factor from one chunk to the next


class ChunkSize:
    """Number of events in the next chunk of a run, by the duration of the last one.

    Results do not depend on it: a run that is advanced in other chunks is bit-identical.
    """

    def __init__(self) -> None:
        self.events = FIRST_CHUNK

    def adapt(self, seconds: float) -> None:
        """Adapts the next chunk to the duration of the last one."""
        fits = self.events * CHUNK_SECONDS / max(seconds, 1e-9)
        self.events = int(min(max(fits, 1), MAX_GROWTH * self.events, MAX_CHUNK))
