"""Facts about switch chips that no configuration has: cells, slices, and the meaning of pool sizes."""

from dataclasses import dataclass, replace
from fractions import Fraction

from overspill.errors import BadInput, cut_user_text

SIZE_INCLUDES = ("shared", "reserves", "reserves_and_headroom")
MAX_CELL = 65_535
MAX_SLICES = 64
KIB = 1024


@dataclass(frozen=True)
class Delays:
    """Delays of a chip for which it keeps headroom, in bytes at any rate."""

    pipeline: int
    mac_and_phy: Fraction
    peer_response: Fraction


@dataclass(frozen=True)
class Chip:
    """Memory organisation of a switch chip."""

    name: str
    cell: int
    slices: int
    slice_of: tuple[int, ...]
    size_includes: str
    source: str
    lanes_per_pipe: int | None = None
    delays: Delays | None = None
    note: str = ""

    @property
    def pipes(self) -> int:
        """Number of pipes, from the square table `slice_of`; 0 without one."""
        return int(len(self.slice_of) ** 0.5)


SPECTRUM_SOURCE = (
    "SONiC (sonic-buildimage): platform/mellanox/asic_table.j2 (cell, delays); sonic-swss: "
    "cfgmgr/buffer_pool_mellanox.lua (size without reserves and headroom)"
)
SPECTRUM_NOTE = (
    "The chip also reserves its pipeline latency for each lossy group, and memory for management and "
    "mirroring. The pool size excludes both already."
)


def spectrum(name: str, cell: int, pipeline_kib: int = 19) -> Chip:
    """Returns a chip of the Spectrum family, whose ports share one undivided memory."""
    delays = Delays(pipeline_kib * KIB, Fraction(8, 10) * KIB, Fraction(38, 10) * KIB)
    return Chip(name, cell, 1, (), "shared", SPECTRUM_SOURCE, delays=delays, note=SPECTRUM_NOTE)


CHIPS = (
    Chip(
        name="tomahawk",
        cell=208,
        slices=4,
        # Input pipes 0 and 3 use two slices, 1 and 2 the others. The output pipe chooses within each pair.
        slice_of=(0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 0, 0, 1, 1),
        size_includes="shared",
        source=(
            "SONiC (sonic-mgmt): QoS parameters and expectations of its device tests; buffer templates of "
            "sonic-buildimage for 32 ports of 100 Gb/s"
        ),
        lanes_per_pipe=32,
    ),
    spectrum("spectrum", 96),
    spectrum("spectrum-2", 144),
    spectrum("spectrum-3", 144),
    spectrum("spectrum-4", 192),
    spectrum("spectrum-5", 192),
    spectrum("spectrum-6", 256, 42),
)


@dataclass(frozen=True)
class ChipOptions:
    """Options of the command about the chip; `None` takes the value of the chip."""

    name: str | None = None
    cell: str | None = None
    slices: int | None = None
    slice_of: str | None = None
    size_includes: str | None = None


def select_chip(options: ChipOptions) -> Chip:
    """Returns the named chip with the values of the options; raises `BadInput` if a value is missing."""
    known = {one.name: one for one in CHIPS}
    if options.name is not None and options.name.casefold() not in known:
        found = cut_user_text(options.name)
        raise BadInput(f"--chip: found {found}; expected one of {', '.join(known)}, or --cell without --chip")
    if options.name is None and (options.cell is None or options.size_includes is None):
        missing = "--cell" if options.cell is None else "--size-includes"
        raise BadInput(
            f"{missing}: found nothing; expected --chip ({', '.join(known)}), or --cell, --slices and "
            "--size-includes, because the configuration has none of these facts"
        )
    base = known[options.name.casefold()] if options.name else Chip("", 1, 1, (), "shared", "")
    chip = base if options.cell is None else replace(base, cell=parse_cell(options.cell))
    if options.slices is not None or options.slice_of is not None:
        slices, slice_of = read_slices(options)
        chip = replace(chip, slices=slices, slice_of=slice_of)
    if options.size_includes is not None:
        if options.size_includes not in SIZE_INCLUDES:
            found = cut_user_text(options.size_includes)
            raise BadInput(f"--size-includes: found {found}; expected one of {', '.join(SIZE_INCLUDES)}")
        chip = replace(chip, size_includes=options.size_includes)
    return chip


def parse_cell(text: str) -> int:
    """Parses the size of a cell, with or without the unit `B`."""
    digits = text.strip().removesuffix("B").strip()
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits) <= MAX_CELL):
        raise BadInput(
            f"--cell: found {cut_user_text(text)}; expected bytes from 1 to {MAX_CELL}, such as 208B"
        )
    return int(digits)


def read_slices(options: ChipOptions) -> tuple[int, tuple[int, ...]]:
    """Returns the number of slices and the slice of each pair of pipes, as the options give them."""
    parts = [one.strip() for one in (options.slice_of or "").split(",") if one.strip()]
    if not all(one.isascii() and one.isdigit() and int(one) < MAX_SLICES for one in parts):
        found = cut_user_text(options.slice_of or "")
        raise BadInput(f"--slice-of: found {found}; expected slices separated by commas, such as 0,1,1,0")
    slice_of = tuple(map(int, parts))
    slices = options.slices if options.slices is not None else max(slice_of) + 1
    if int(len(slice_of) ** 0.5) ** 2 != len(slice_of) or (slices > 1 and not slice_of):
        rule = "one slice for each pair of an input pipe and an output pipe, such as 0,1,1,0 for two pipes"
        raise BadInput(f"--slice-of: found {len(slice_of)} numbers for {slices} slices; expected {rule}")
    if slice_of and max(slice_of) >= slices:
        raise BadInput(f"--slice-of: found {max(slice_of)}; expected slices from 0 to {slices - 1}")
    return slices, slice_of
