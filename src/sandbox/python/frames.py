"""Frames between the supervisor and the runner: nonce (16 bytes), kind (1), length (4, big-endian), payload."""

import os
import struct

NONCE = 16
HEADER = struct.Struct(">cI")
COMMANDS, REPORT, LINK = 0, 3, 4
LARGEST = 64 << 20


def write_all(descriptor, data):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view):]


def send(nonce, kind, payload):
    write_all(REPORT, b"".join((nonce, HEADER.pack(kind, len(payload)), payload)))


class Inbox:
    """Commands of the supervisor, cut out of the byte stream of standard input."""

    def __init__(self):
        self._bytes = bytearray()

    def feed(self):
        """Reads what has arrived; False at the end of the stream."""
        chunk = os.read(COMMANDS, 65536)
        self._bytes += chunk
        return bool(chunk)

    def take(self):
        """The next whole frame as (nonce, kind, payload), or None."""
        start = NONCE + HEADER.size
        if len(self._bytes) < start:
            return None
        kind, length = HEADER.unpack_from(self._bytes, NONCE)
        if length > LARGEST:
            raise SystemExit("frame too large")
        if len(self._bytes) < start + length:
            return None
        nonce, payload = bytes(self._bytes[:NONCE]), bytes(self._bytes[start:start + length])
        del self._bytes[:start + length]
        return nonce, kind, payload

    def wait(self):
        """Waits for the next frame; None at the end of the stream."""
        while (frame := self.take()) is None:
            if not self.feed():
                return None
        return frame
