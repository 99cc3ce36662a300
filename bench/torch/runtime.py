"""PyTorch at its best on one thread. Import before numpy or torch: OpenBLAS reads its settings as it loads.

Debian's torch multiplies float32 matrices through whatever `libblas.so.3` is, never through its oneDNN, so:
- the library must be OpenBLAS (or MKL, BLIS). `apt-get install --no-install-recommends python3-torch` brings
  the reference BLAS instead, which is 10 to 40 times slower and no fair comparison;
- OpenBLAS 0.3.21 may not know a newer processor and then silently takes its slowest kernels. It also ignores
  the name of a core that it was not built with (Debian's has no Cooperlake or Sapphirerapids). SkylakeX
  serves everything with AVX-512, Haswell everything with AVX2.
"""

import ctypes
import os
from typing import Iterable, Optional, Set

AVX512 = {'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'}
AVX2 = {'avx2', 'fma'}


def cpu_flags(path: str = '/proc/cpuinfo') -> Set[str]:
    try:
        with open(path, encoding='utf-8') as lines:
            for line in lines:
                if line.startswith('flags'):
                    return set(line.split(':', 1)[1].split())
    except OSError:
        pass
    return set()


def openblas_core(flags: Iterable[str]) -> Optional[str]:
    """The fastest OPENBLAS_CORETYPE for a processor; None leaves the choice to OpenBLAS."""
    present = set(flags)
    if AVX512 <= present:
        return 'SkylakeX'
    if AVX2 <= present:
        return 'Haswell'
    return None


core = openblas_core(cpu_flags())
if core is not None:
    os.environ.setdefault('OPENBLAS_CORETYPE', core)
for threads in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ[threads] = '1'

import torch  # noqa: E402

torch.set_num_threads(1)
torch.set_flush_denormal(True)


def loaded_blas() -> Optional[str]:
    """The file of the optimised BLAS in this process, or None when it is the slow reference library."""
    try:
        with open('/proc/self/maps', encoding='utf-8') as maps:
            files = {line.split()[-1] for line in maps if '.so' in line}
    except OSError:
        return None
    for file in sorted(files):
        if any(name in os.path.basename(file) for name in ('openblas', 'mkl_rt', 'mkl_core', 'blis')):
            return file
    return None


def openblas_kernels(file: str) -> Optional[str]:
    """What OpenBLAS says it runs, e.g. `SkylakeX`: proof that OPENBLAS_CORETYPE was understood."""
    try:
        corename = ctypes.CDLL(file).openblas_get_corename
    except (AttributeError, OSError):
        return None
    corename.restype = ctypes.c_char_p
    return corename().decode()
