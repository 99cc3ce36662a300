"""The trusted first process of a sandbox: takes cases from the supervisor, watches their limits, reports facts.

It never decides a verdict, and nothing that a verdict depends on ever enters it in a sandbox for programs. Programs are
not its forks but those of the zygote, a process that it leaves behind before it has seen the first case: what it
remembers of one program is not in the memory of the next.
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
    """Serves cases until the supervisor hangs up. Returns only in the process of a program: what that has to run."""
    confine.hide()
    os.closerange(frames.LINK + 1, 256)
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    inbox = frames.Inbox()
    nonce, _, boot = inbox.wait()
    ours, theirs = _socket.socketpair()
    # The zygote is the first process of a namespace of its own, to which it returns between two forks.
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
            # S may come late, for a case that has just ended by itself. Nothing else is expected between cases.
            raise SystemExit("a command that cannot be obeyed")
    return None


become = main()
if become is not None:
    become()
