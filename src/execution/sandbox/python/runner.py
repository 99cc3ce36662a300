"""The trusted first process of a sandbox: forks one process per case, watches its limits, reports facts.

It never decides a verdict, and nothing that a verdict depends on ever enters it.
"""

import gc
import json
import os
import sys

import case
import confine
import frames


def main():
    """Serves cases until the supervisor hangs up. Returns only in a fork: what that fork has to run."""
    confine.hide()
    os.closerange(frames.REPORT + 1, 256)
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    inbox = frames.Inbox()
    nonce, _, payload = inbox.wait()
    boot = json.loads(payload)
    filter_code = bytes.fromhex(boot["filter"])
    frames.send(nonce, b"R", b"")
    while (frame := inbox.wait()) is not None:
        nonce, kind, payload = frame
        if kind != b"C":
            continue
        spec = json.loads(payload)
        # Loaded once per sandbox instead of once per case.
        for name in spec["preload"]:
            __import__(name)
        gc.freeze()
        current = case.Case(nonce, spec)
        if current.fork() == 0:
            return lambda: current.become(filter_code, boot["pidSlots"])
        current.watch(inbox)
    return None


become = main()
if become is not None:
    become()
