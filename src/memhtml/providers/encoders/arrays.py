"""Arrays: numpy with one thread, and named arrays in one file that is mapped, not read.

Only modules that are loaded with a model may import this one: it imports numpy.

A *pack* is a JSON header and raw little-endian arrays at multiples of 64 bytes, the layout of a
safetensors file with our own facts beside it. Mapping one costs nothing until a page is touched.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
from typing import TYPE_CHECKING, Any

_THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Our products are small: a second thread costs start-up (50 ms more for the import alone) and wakes
# a core that other work could use. Who has loaded numpy before us has decided for themselves, and a
# program we start later must not inherit what is meant for this import.
_ours = [name for name in _THREAD_SETTINGS if name not in os.environ and "numpy" not in sys.modules]
os.environ.update(dict.fromkeys(_ours, "1"))
try:
    import numpy as np
finally:
    for _name in _ours:
        del os.environ[_name]

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["np", "read_pack", "read_safetensors", "write_pack"]

_MAGIC = b"memhtml1"
_ALIGNMENT = 64
_DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}


def write_pack(path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write *arrays* and *facts* (any JSON) to *path*; the same input gives the same bytes."""
    entries: dict[str, Any] = {}
    offset = 0
    blobs: list[bytes] = []
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        blob = data.tobytes()
        blob += bytes(-len(blob) % _ALIGNMENT)
        entries[name] = [data.dtype.str, list(data.shape), offset]
        blobs.append(blob)
        offset += len(blob)
    header = json.dumps({"arrays": entries, "facts": facts}, sort_keys=True).encode()
    header += b" " * (-(len(header) + 16) % _ALIGNMENT)
    with path.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
        file.writelines(blobs)


def read_pack(path: str | PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays of a pack, read-only views of the mapped file, and its facts.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a pack, or is cut short.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - takes what the loaders have, a plain string
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"{path} is not a memhtml model file")
    start = 16 + int.from_bytes(data[8:16], "little")
    header = json.loads(data[16:start])
    arrays = {
        name: np.frombuffer(
            data, dtype, count=int(np.prod(shape, dtype=np.int64)), offset=start + offset
        ).reshape(shape)
        for name, (dtype, shape, offset) in header["arrays"].items()
    }
    return arrays, header["facts"]


def read_safetensors(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a safetensors file, read-only views of *data*.

    Raises:
        ValueError: It is not such a file, or has a number type that our models do not use.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"array {name!r} is {entry['dtype']}, not one of {sorted(_DTYPES)}")
        first, last = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[start + first : start + last], _DTYPES[entry["dtype"]])
        arrays[name] = arrays[name].reshape(entry["shape"])
    return arrays
