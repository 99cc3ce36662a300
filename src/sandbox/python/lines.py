"""Passes descriptors between processes, and makes the line between tests and the program that they judge.

Tests and program are in two sandboxes whose runners are linked from the start. For each case the tests' runner makes a
new line. One end goes to the tests' process, the other through the other runner to the program.
"""

import os
import struct

import _socket
import frames

DESCRIPTOR = struct.calcsize("i")
# Made here, because the zygote must keep nothing made between two forks, and the module's own cache would.
INTEGERS = {count: struct.Struct(f"{count}i") for count in range(1, 7)}
NUMBER = struct.Struct(">I")


class Link:
    """One runner's side. Both sides number the lines, so that none is mistaken for another case's."""

    def __init__(self):
        self._channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, frames.LINK)
        self._channel.setblocking(True)
        self._lines = 0

    def send(self):
        """Makes a line, sends the program's end, and returns the tests' end."""
        ours, theirs = _socket.socketpair()
        send_descriptors(self._channel, self._next(), [theirs.fileno()])
        theirs.close()
        return ours.detach()

    def receive(self):
        """Returns the program's end. Waits for the other runner, which gets its case at the same time."""
        number, (end,) = receive_descriptors(self._channel, NUMBER.size)
        if number != self._next():
            raise SystemExit("the line of another case")
        return end

    def _next(self):
        self._lines += 1
        return NUMBER.pack(self._lines)


def send_descriptors(channel, data, descriptors):
    packed = INTEGERS[len(descriptors)].pack(*descriptors)
    channel.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])


def receive_descriptors(channel, length, most=1):
    """Ends this process when the other side is gone."""
    data, ancillary, _, _ = channel.recvmsg(length, _socket.CMSG_SPACE(most * DESCRIPTOR))
    if len(data) != length or not ancillary:
        os._exit(1)
    packed = ancillary[0][2]
    return data, INTEGERS[len(packed) // DESCRIPTOR].unpack(packed)
