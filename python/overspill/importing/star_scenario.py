"""Whole scenario around a fragment: the switch in a star, with bursts into one host."""

from overspill.errors import BadInput
from overspill.importing.fragment import Imported, setting
from overspill.importing.switch_ports import format_delay, format_rate

FEWEST_PORTS = 3  # for a burst of two senders
BURST_SIZE = "1MB"  # of each sender
INITIAL_WINDOW = "700pkt"  # the whole burst, so that it does not wait for ACKs
LOSSLESS_BURST, LOSSY_BURST = "lossless_burst", "lossy_burst"


def describe_link(found: Imported) -> str:
    """Returns the link of all ports; raises `BadInput` if their rates or cables differ."""
    kinds = sorted({(port.speed, port.cable or "") for port in found.ports})
    if len(kinds) > 1:
        rates = ", ".join(f"{format_rate(speed)} {cable}".strip() for speed, cable in kinds)
        raise BadInput(f"--star: found ports with {rates}; expected one rate and cable (--speed, --ports)")
    if len(found.ports) < FEWEST_PORTS:
        raise BadInput(f"--star: found {len(found.ports)} ports; expected at least {FEWEST_PORTS}")
    link = {"rate": format_rate(found.ports[0].speed)}
    metres = found.ports[0].cable_metres
    if metres:
        link["delay"] = format_delay(metres)
    return setting("link", link)


def select_classes(found: Imported) -> dict[str, int]:
    """Returns the classes of the bursts: one that is lossless, and one that is not, each with a DSCP."""
    lossless, dscps = found.lossless_classes, found.maps.dscp_to_class
    used = range(8) if dscps is None else list(dict.fromkeys(dscps))
    bursts = {}
    for name, wanted in ((LOSSLESS_BURST, True), (LOSSY_BURST, False)):
        own = [class_ for class_ in used if (class_ in lossless) == wanted]
        if own:
            bursts[name] = own[0]
    return bursts


def write_head(found: Imported, name: str) -> str:
    """Returns the part of a scenario that goes before the fragment."""
    ports = len(found.ports)
    lines = [
        setting("name", name),
        setting("description", f"{ports - 1} hosts send {BURST_SIZE} each to h0 through an imported switch"),
        setting("duration", "10ms"),
        "",
        "[topology]",
        setting("kind", "star"),
        setting("n", ports),
        describe_link(found),
        "",
        "[transport]",
        # WRED drops packets that are not ECN-capable instead of marking them.
        setting("kind", "linux_dctcp" if any(one.marks for one in found.wred) else "linux"),
        setting("initial_window", INITIAL_WINDOW),
        "",
        "[measure]",
        setting("drain", "1s"),
    ]
    for at, (burst, class_) in enumerate(select_classes(found).items()):
        lines += ["", "[[traffic]]", setting("name", burst), setting("kind", "incast")]
        lines += [setting("senders", ports - 1), setting("receiver", "h0"), setting("size", BURST_SIZE)]
        lines += [setting("start", f"{1 + 5 * at}ms"), setting("class", class_)]
    return "\n".join(lines) + "\n\n"
