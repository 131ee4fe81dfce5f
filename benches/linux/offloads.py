"""Turns off what makes one packet of many segments: `offloads.py DEVICE...`, in its namespace."""

import fcntl
import socket
import struct
import sys
from array import array

SIOCETHTOOL = 0x8946
# ETHTOOL_STSO and ETHTOOL_SGSO: packets of a device are segments. GRO is off at a veth unless asked for.
SETTINGS = (0x1F, 0x24)


def turn_off(device: str) -> None:
    """Segmentation by the device, real or by software behind its queue."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for setting in SETTINGS:
            value = array("I", [setting, 0])
            request = struct.pack("16sP", device.encode(), value.buffer_info()[0])
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        turn_off(name)
