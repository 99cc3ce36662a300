"""Reads `.safetensors`: eight bytes of header length, a JSON header, then the tensors' bytes."""

import json
import struct
from pathlib import Path
from typing import Dict

import numpy
import torch


def read_safetensors(path: Path) -> Dict[str, torch.Tensor]:
    content = path.read_bytes()
    if len(content) < 8:
        raise ValueError(f'{path}: too short for a safetensors file')
    (header_length,) = struct.unpack_from('<Q', content)
    start = 8 + header_length
    if start > len(content):
        raise ValueError(f'{path}: the header is longer than the file')
    header = json.loads(content[8:start])
    tensors: Dict[str, torch.Tensor] = {}
    end = 0
    for name, entry in header.items():
        if name == '__metadata__':
            continue
        if entry['dtype'] != 'F32':
            raise ValueError(f'{path}: {name} is {entry["dtype"]}, only F32 is read here')
        first, last = entry['data_offsets']
        count = int(numpy.prod(entry['shape'], dtype=numpy.int64))
        if last - first != 4 * count or start + last > len(content):
            raise ValueError(f'{path}: {name} does not have the {4 * count} bytes of its shape')
        data = numpy.frombuffer(content, dtype='<f4', count=count, offset=start + first)
        tensors[name] = torch.from_numpy(data.astype(numpy.float32).reshape(entry['shape']))
        end = max(end, last)
    if start + end != len(content):
        raise ValueError(f'{path}: {len(content) - start - end} bytes belong to no tensor')
    return tensors
