"""A minimal writer of zip archives with any compression method, including Zstandard."""

import json
import struct
import zlib

import zstandard

STORED, DEFLATED, ZSTANDARD = 0, 8, 93


def compress(data: bytes, method: int) -> bytes:
    if method == ZSTANDARD:
        return zstandard.compress(data)
    if method == DEFLATED:
        squeeze = zlib.compressobj(wbits=-15)
        return squeeze.compress(data) + squeeze.flush()
    return data


def archive(members: dict, method: int = ZSTANDARD) -> bytes:
    """Return a zip archive of named members: bytes as they are, other values as JSON."""
    body, directory = b"", b""
    for name, content in members.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        packed, title = compress(data, method), name.encode()
        common = (method, 0, 0, zlib.crc32(data), len(packed), len(data), len(title))
        directory += struct.pack("<4s4H2H3L", b"PK\x01\x02", 20, 20, 0, *common[:6]) + struct.pack(
            "<5H2L", len(title), 0, 0, 0, 0, 0, len(body)
        )
        directory += title
        body += struct.pack("<4s2H3H3L2H", b"PK\x03\x04", 20, 0, *common, 0) + title + packed
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0
    )
    return body + directory + end
