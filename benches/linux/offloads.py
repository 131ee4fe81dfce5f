"""Turns off offloads that merge segments into larger packets: `offloads.py DEVICE...`, in its namespace."""

import fcntl
import socket
import struct
import sys
from array import array

SIOCETHTOOL = 0x8946
# ETHTOOL_STSO and ETHTOOL_SGSO, so that each packet of a device is one segment. GRO is off on veths by
# default.
ETHTOOL_COMMANDS = (0x1F, 0x24)


def turn_off_segmentation(device: str) -> None:
    """Turns off TSO and GSO of a device."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for setting in ETHTOOL_COMMANDS:
            value = array("I", [setting, 0])
            request = struct.pack("16sP", device.encode(), value.buffer_info()[0])
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        turn_off_segmentation(name)
