"""The trusted first process of a sandbox: takes cases from the supervisor, watches their limits, reports facts.

It never decides a verdict, and in a sandbox for programs it never holds anything that a verdict depends on. Programs
are forked not from it but from the zygote, which it starts before it sees the first case: so nothing it remembers of
one program is in the memory of the next.
"""

import json
import os
import sys

import _socket
import case
import confine
import frames
import lines
import zygote


def main():
    """Serves cases until the supervisor closes. Returns only in a program's process, with what it has to run."""
    confine.hide()
    os.closerange(frames.LINK + 1, 256)
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    inbox = frames.Inbox()
    nonce, _, boot = inbox.wait()
    ours, theirs = _socket.socketpair()
    # The zygote is the first process of its own namespace, and returns to it between forks.
    confine.give_next_fork_numbers_of_its_own()
    if os.fork() == 0:
        ours.close()
        for descriptor in (frames.COMMANDS, frames.REPORT, frames.LINK):
            os.close(descriptor)
        return zygote.serve(theirs, json.loads(boot))
    theirs.close()
    confine.drop_capabilities()
    processes = zygote.Zygote(ours)
    link = lines.Link()
    frames.send(nonce, b"R", b"")
    while (frame := inbox.wait()) is not None:
        nonce, kind, payload = frame
        if kind == b"C":
            case.Case(nonce, payload).run(processes, link, inbox)
        elif kind == b"P" and not payload and processes.is_there():
            frames.send(nonce, b"R", b"")
        elif kind != b"S" or payload:
            # S may come late, for a case that has just ended. Nothing else is expected between cases.
            raise SystemExit("a command that cannot be obeyed")
    return None


become = main()
if become is not None:
    become()
