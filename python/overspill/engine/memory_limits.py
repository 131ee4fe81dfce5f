"""Closed form of switch memory: frames until a mark, a pause and a loss, by arithmetic on shares of a pool.

Frames are a fluid that rises equally in all congested accounts (Choudhury and Hahne 1998). An account alone
holds its reserve R and α B / (1 + α) of a pool of B bytes. Each of n equal accounts holds R + α B / (1 + nα).
Counts include the frame that causes the event. They are exact fractions; whole frames differ by rounding.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from overspill.engine.switch_memory import PortNumber, Profile, SwitchMemory

Stream = tuple[int, int, int]  # input port, output port, class
Share = tuple[Fraction, int, int]  # weight, number of streams, reserve in bytes


@dataclass(frozen=True)
class Limits:
    """Frames of one group or queue until something happens, that frame included; `None` if it does not.

    `headroom` counts the frames that fit after the pause, and `resume` the departures after it.
    """

    mark: Fraction | None = None
    pause: Fraction | None = None
    ingress_loss: Fraction | None = None
    egress_loss: Fraction | None = None
    headroom: Fraction | None = None
    resume: Fraction | None = None


@dataclass(frozen=True)
class Case:
    """Equal streams that fill groups or queues with frames of one size; the first stream is measured."""

    memory: SwitchMemory
    size: int
    streams: Sequence[Stream]
    groups: Mapping[PortNumber, int] = field(init=False)  # number of streams of each account
    queues: Mapping[PortNumber, int] = field(init=False)

    def __post_init__(self) -> None:
        """Counts the streams of each group and queue."""
        to_group, to_queue = self.memory.class_to_group, self.memory.class_to_queue
        groups = Counter((ingress, to_group[class_]) for ingress, _, class_ in self.streams)
        queues = Counter((egress, to_queue[class_]) for _, egress, class_ in self.streams)
        object.__setattr__(self, "groups", {at: n for at, n in groups.items() if at in self.memory.groups})
        object.__setattr__(self, "queues", {at: n for at, n in queues.items() if at in self.memory.queues})

    @property
    def frame(self) -> int:
        """Bytes of the cells of a frame."""
        return self.memory.cell_bytes(self.size)

    @property
    def is_paused(self) -> bool:
        """True if the switch pauses the measured stream."""
        ingress, _, class_ = self.streams[0]
        return self.memory.is_paused(ingress, class_)

    def profile(self, side: str, at: PortNumber) -> Profile:
        """Returns the profile of a group (`groups`) or queue (`queues`)."""
        names = self.memory.groups if side == "groups" else self.memory.queues
        return self.memory.profiles[names[at]]

    def shares(self, side: str, pool: str, weight: Fraction) -> list[Share]:
        """Returns the congested accounts of a pool, with this weight."""
        counts = self.groups if side == "groups" else self.queues
        profiles = ((self.profile(side, at), n) for at, n in counts.items())
        return [(weight, n, profile.reserve) for profile, n in profiles if profile.pool == pool]

    def limit_point(self, side: str, at: PortNumber) -> Fraction | None:
        """Returns the bytes of each stream at which an account has reached its limit; `None` without a limit.

        Dynamic: the account's share and α times all shares are α B. Static: the share is the limit.
        """
        profile = self.profile(side, at)
        own: Share = (Fraction(1), (self.groups if side == "groups" else self.queues)[at], profile.reserve)
        if profile.alpha is not None:
            total = profile.alpha * self.memory.pools[profile.pool].size
            return fill_until([own, *self.shares(side, profile.pool, profile.alpha)], total)
        return None if profile.limit is None else fill_until([own], Fraction(profile.limit))

    def full_point(self, side: str, at: PortNumber) -> Fraction | None:
        """Returns the bytes of each stream at which the pool of an account is full."""
        pool = self.profile(side, at).pool
        return fill_until(self.shares(side, pool, Fraction(1)), Fraction(self.memory.pools[pool].size))


def fill_until(shares: Sequence[Share], total: Fraction) -> Fraction | None:
    """Returns the bytes x of each stream at which the sum of weight * max(0, n x - reserve) is a total."""
    level, slope, here = Fraction(0), Fraction(0), Fraction(0)
    for begin, gain in sorted((Fraction(reserve, n), weight * n) for weight, n, reserve in shares):
        if slope and level + slope * (begin - here) >= total:
            break
        level, here, slope = level + slope * (begin - here), begin, slope + gain
    return here + (total - level) / slope if slope else None


def compute_limits(case: Case) -> Limits:
    """Computes the frames of the measured stream until a mark, a pause and a loss."""
    first = limits_of_paused(case) if case.is_paused else limits_of_lossy(case)
    mark = first_mark(case)
    if mark is not None and first.pause is not None and mark > math.ceil(first.pause):
        mark = first.mark  # in headroom, which groups fill one after another
    elif mark is not None:
        ends = [count for count in (first.ingress_loss, first.egress_loss) if count is not None]
        mark = None if ends and mark >= min(ends) else mark
    resume = departures_until_resume(case) if stores_frames(first) else None
    return replace(first, mark=mark, resume=resume)


def stores_frames(limits: Limits) -> bool:
    """Returns true if a paused group has frames that can depart: the first frame is not refused."""
    return limits.pause is not None and (limits.pause != limits.ingress_loss or limits.pause >= 2)


def stops(case: Case, side: str) -> Iterator[Fraction]:
    """Yields the bytes of each stream at which accounts of one side refuse frames, headroom left out."""
    for at in case.groups if side == "groups" else case.queues:
        points = (case.limit_point(side, at), case.full_point(side, at))
        yield from (point for point in points if point is not None)


def limits_of_lossy(case: Case) -> Limits:
    """Returns the limits of frames that are lost at the first account that refuses them."""
    ingress = []
    for at, n in case.groups.items():
        points = [
            point
            for point in (case.limit_point("groups", at), case.full_point("groups", at))
            if point is not None
        ]
        ingress += [min(points) + Fraction(case_headroom(case, at), n)] if points else []
    return first_loss(case, min(ingress, default=None), min(stops(case, "queues"), default=None))


def first_loss(case: Case, ingress: Fraction | None, egress: Fraction | None) -> Limits:
    """Returns the loss at the side whose bytes are reached first; the lost frame follows the stored ones."""
    if ingress is not None and (egress is None or ingress <= egress):
        return Limits(ingress_loss=ingress / case.frame + 1)
    return Limits(egress_loss=None if egress is None else egress / case.frame + 1)


def shared_headroom(case: Case, at: PortNumber) -> int | None:
    """Returns the headroom that the pool of a group shares; `None` if headroom is the group's own."""
    return case.memory.pools[case.profile("groups", at).pool].headroom


def min_present(first: int, second: int | None) -> int:
    """Returns the smaller of two sizes, of which the second may be missing."""
    return first if second is None else min(first, second)


def limits_of_paused(case: Case) -> Limits:
    """Returns the limits of lossless groups, which are paused at their limit and then fill headroom."""
    frame = case.frame
    limits = [point for at in case.groups if (point := case.limit_point("groups", at)) is not None]
    full = min(
        (point for at in case.groups if (point := case.full_point("groups", at)) is not None), default=None
    )
    egress = min(stops(case, "queues"), default=None)
    pause = min(limits, default=None)
    if any(has_no_shared_memory(case, at) for at in case.groups):
        return limits_without_shared_memory(case)
    if pause is None or (full is not None and full < pause):
        # The pool is full before a group is at its limit: the first frame in headroom pauses it.
        if full is None or (egress is not None and egress < full):
            return first_loss(case, full, egress)
        return limits_after_pause(case, full / frame + 1, math.floor(full / frame), begins=True)
    if egress is not None and egress < pause:
        return first_loss(case, None, egress)
    return limits_after_pause(case, max(pause / frame, Fraction(1)), math.ceil(pause / frame), begins=False)


def limits_after_pause(case: Case, pause: Fraction, stored: int, begins: bool) -> Limits:
    """Returns the limits of groups that are paused with `stored` frames in shared memory and reserve each.

    `begins` is true if the frame that causes the pause is the first in headroom. Without headroom, the frame
    that a group refuses also pauses it.
    """
    added, is_ingress = frames_after_pause(case, stored * case.frame)
    if begins and not added[-1]:
        return Limits(pause=pause, ingress_loss=pause)
    added = [frames - begins if frames else 0 for frames in added]
    frames = added[-1]
    loss = pause + frames + 1
    ingress, egress = (loss, None) if is_ingress else (None, loss)
    mark = mark_in_headroom(case, stored + begins, added)
    return Limits(mark, pause, ingress, egress, Fraction(frames))


def limits_without_shared_memory(case: Case) -> Limits:
    """Returns the limits of groups with a limit of 0: their full reserve, or the next frame, pauses them."""
    ingress, _, class_ = case.streams[0]
    reserve = case.profile("groups", (ingress, case.memory.class_to_group[class_])).reserve
    reserved, rest = divmod(reserve, case.frame)
    begins = not reserved or rest > 0
    return limits_after_pause(case, Fraction(reserved + begins), reserved, begins)


def has_no_shared_memory(case: Case, at: PortNumber) -> bool:
    """Returns true if a group may never use shared memory."""
    profile = case.profile("groups", at)
    return profile.limit == 0 or profile.alpha == 0


def headroom_order(case: Case) -> list[Stream]:
    """Returns the streams in the order in which their groups fill headroom, the measured one last."""
    return [*case.streams[1:], case.streams[0]]


def frames_after_pause(case: Case, stored: int) -> tuple[list[int], bool]:
    """Returns the frames of each group that fit after its pause, and true if ingress ends the measured one.

    All streams have stored these bytes each. What is left of the reserve, and then headroom, fills in whole
    frames, in the order of `headroom_order`.
    """
    memory, frame = case.memory, case.frame
    used = {at: stored * n for at, n in case.queues.items()}
    left = {name: pool.headroom for name, pool in memory.pools.items()}
    added, is_ingress = [], True
    for ingress, egress, class_ in headroom_order(case):
        group = (ingress, memory.class_to_group[class_])
        queue = (egress, memory.class_to_queue[class_])
        profile = case.profile("groups", group)
        shared, reserved = left[profile.pool], max(profile.reserve - stored, 0) // frame
        most = reserved + min_present(memory.headrooms[group], shared) // frame
        free = egress_space(case, queue, used)
        frames = most if free is None else min(most, math.ceil(free / frame))
        is_ingress = frames == most
        if shared is not None:
            left[profile.pool] = shared - max(frames - reserved, 0) * frame
        if queue in used:
            used[queue] += frames * frame
        added.append(frames)
    return added, is_ingress


def egress_space(case: Case, queue: PortNumber, used: Mapping[PortNumber, int]) -> Fraction | None:
    """Returns the bytes that a queue may still store while others keep theirs; `None` without an account."""
    if queue not in used:
        return None
    profile = case.profile("queues", queue)
    others = sum(
        max(0, bytes_ - case.profile("queues", at).reserve)
        for at, bytes_ in used.items()
        if at != queue and case.profile("queues", at).pool == profile.pool
    )
    free = Fraction(case.memory.pools[profile.pool].size - others)
    share = free
    if profile.alpha is not None:
        share = min(free, profile.alpha * free / (1 + profile.alpha))
    elif profile.limit is not None:
        share = min(free, Fraction(profile.limit))
    return max(profile.reserve + share - used[queue], Fraction(0))


def first_mark(case: Case) -> Fraction | None:
    """Returns the frames of a stream until a mark: the frame that finds the queue at its threshold."""
    found = []
    for at, streams in count_by_queue(case).items():
        marking = case.memory.marking.get(at)
        if marking is not None and not marking.drops:
            found.append(Fraction(math.ceil(Fraction(marking.frames(case.size) + 1, streams))))
    return min(found, default=None)


def mark_in_headroom(case: Case, stored: int, added: Sequence[int]) -> Fraction | None:
    """Returns the frames of the first stream that is marked while it fills its headroom.

    Each stream has stored the same number of frames before, and then adds its own in the order of
    `headroom_order`.
    """
    queued = {at: stored * streams for at, streams in count_by_queue(case).items()}
    for (_, egress, class_), frames in zip(headroom_order(case), added, strict=True):
        at = (egress, case.memory.class_to_queue[class_])
        marking = case.memory.marking.get(at)
        if marking is not None and not marking.drops:
            before = marking.frames(case.size) - queued[at]
            if 0 <= before < frames:
                return Fraction(stored + before + 1)
        queued[at] += frames
    return None


def count_by_queue(case: Case) -> Mapping[PortNumber, int]:
    """Returns the number of streams in each queue of an output port, with or without an account."""
    to_queue = case.memory.class_to_queue
    return Counter((egress, to_queue[class_]) for _, egress, class_ in case.streams)


def departures_until_resume(case: Case) -> Fraction:
    """Returns the departures after which a group alone is resumed, from the frame that paused it.

    Headroom leaves first. After k more departures of c bytes, the use u - k c beyond the reserve is at most
    `xon`, or at most the limit less `xon_offset`. The limit is that of the instant: the departing frame still
    counts in the pool.
    """
    alone = Case(case.memory, case.size, case.streams[:1])
    (at,) = alone.groups
    profile, frame, size = alone.profile("groups", at), alone.frame, memory_size(alone, at)
    use, in_headroom = bytes_at_pause(alone, at)
    if use <= 0 or (profile.alpha is None and profile.limit is None):
        return Fraction(1)
    if in_headroom:
        limit = profile.limit if profile.alpha is None else profile.alpha * (size - use)
        if limit is None or use <= max(Fraction(profile.xon), limit - profile.xon_offset):
            return Fraction(1)
    ways = [Fraction(use - profile.xon, frame)]
    if profile.alpha is not None:
        rest = use - profile.alpha * (size - use - frame) + profile.xon_offset
        ways.append(rest / ((1 + profile.alpha) * frame))
    elif profile.limit is not None:
        ways.append(Fraction(use - profile.limit + profile.xon_offset, frame))
    return Fraction(in_headroom + max(1, math.ceil(min([Fraction(use, frame), *ways]))))


def bytes_at_pause(alone: Case, at: PortNumber) -> tuple[int, bool]:
    """Returns the bytes of a group in shared memory when it is paused, and true if a frame is in headroom."""
    profile, frame = alone.profile("groups", at), alone.frame
    point, full = alone.limit_point("groups", at), alone.full_point("groups", at)
    stored = None if point is None else max(math.ceil(point / frame), 1)
    if full is not None and (stored is None or stored * frame > full):
        return math.floor(full / frame) * frame - profile.reserve, case_headroom(alone, at) >= frame
    return (stored or 0) * frame - profile.reserve, False


def case_headroom(case: Case, at: PortNumber) -> int:
    """Returns the bytes of headroom that a group alone may use."""
    return min_present(case.memory.headrooms.get(at, 0), shared_headroom(case, at))


def memory_size(case: Case, at: PortNumber) -> int:
    """Returns the size of the pool of a group in one slice."""
    return case.memory.pools[case.profile("groups", at).pool].size
