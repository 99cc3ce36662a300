/**
 * Python: `found()` returns every canary anywhere in the process: in mapped memory around the heap, the
 * arenas, the stack and the libraries, in files, descriptors and the environment. It does not know the
 * canaries; it looks for what follows their mark, and the mark is never spelt out in one piece.
 */
export const memorySearch = `
import ctypes, os, re, socket, sys

def found():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype = ctypes.c_void_p
    page = 4096
    seen, regions = set(), []
    def mapped(at):
        # Advice of no effect, which the kernel gives to no page that is not there.
        return at > 0 and libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(page), 0) == 0
    anchors = [id(object()), id([0] * 9), id("x" * 600), id(sys), id(len), id(bytearray(300000)), libc.sbrk(0) - page,
               ctypes.addressof(ctypes.create_string_buffer(100)), ctypes.addressof(ctypes.create_string_buffer(1 << 18)),
               ctypes.cast(libc.getpid, ctypes.c_void_p).value]
    anchors += [id(o) for o in list(sys.modules.values())]
    for anchor in anchors:
        at = anchor // page * page
        if at in seen or not mapped(at):
            continue
        low = at
        while mapped(low - page) and low - page not in seen and at - low < 128 << 20:
            low -= page
        high = at
        while mapped(high) and high not in seen and high - at < 128 << 20:
            high += page
        seen.update(range(low, high, page))
        regions.append((low, high))
    source, sink = (end.detach() for end in socket.socketpair())
    def peek(at):
        # The kernel copies; memory that is mapped but closed to us is an error and no crash.
        size = libc.write(sink, ctypes.c_void_p(at), ctypes.c_size_t(page))
        return os.read(source, page) if size == page else b""
    mark = re.compile("".join(["CAN", "ARY<"]).encode() + rb"([0-9a-f]{16})>")
    hits = set()
    for low, high in regions:
        before = b""
        for at in range(low, high, page):
            here = peek(at)
            hits.update(mark.findall(before[-64:] + here))
            before = here
    os.close(source), os.close(sink)
    for root, folders, files in os.walk("/"):
        if root.startswith("/usr"):
            folders[:] = []
            continue
        for name in files:
            try:
                if os.path.isfile(os.path.join(root, name)):
                    hits.update(mark.findall(open(os.path.join(root, name), "rb").read()))
            except OSError:
                pass
    for number in (3, *range(5, 64)):
        try:
            os.set_blocking(number, False)
            hits.update(mark.findall(os.read(number, 1 << 16)))
        except OSError:
            pass
    hits.update(mark.findall(repr(dict(os.environ)).encode()))
    return sorted(hit.decode() for hit in hits)
`
