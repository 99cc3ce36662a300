"""Pairs of connected sockets for programs, because asyncio needs them.

Programs may not make their own: the kernel numbers all pipes and sockets of the machine in one sequence, so a program
that makes very many leaves a number behind for the next one to read. These few are made before the program starts.
"""

import errno
import os

import _socket
import confine

PAIRS = 3


def provide():
    """Prepares the pairs; this process makes no others. Returns the highest descriptor number."""
    pairs = [_socket.socketpair() for _ in range(PAIRS)]

    def socketpair(family=_socket.AF_UNIX, type=_socket.SOCK_STREAM, proto=0):
        if (family, type, proto) != (_socket.AF_UNIX, _socket.SOCK_STREAM, 0):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        open_now = [inode(descriptor) for descriptor in range(confine.MOST_DESCRIPTORS)]
        for pair in pairs:
            # A pair is in use while a copy of either end exists.
            if all(open_now.count(inode(end.fileno())) == 1 for end in pair):
                return tuple(copy(end) for end in pair)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    _socket.socketpair = socketpair
    return pairs[-1][1].fileno()


def inode(descriptor):
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return None


def copy(end):
    """A blocking copy, like a new socket, with nothing left from an earlier user."""
    try:
        while end.recv(65536, _socket.MSG_DONTWAIT):
            pass
    except BlockingIOError:
        pass
    fresh = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, os.dup(end.fileno()))
    fresh.setblocking(True)
    return fresh
