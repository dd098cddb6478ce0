"""What people mistake for graph files, told by how it begins."""

__all__ = ["foreign"]

_SIGNATURES = {
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"\x1f\x8b": "gzip data in gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF document",
    b"\x93NUMPY": "a dense numpy array",
    b"\x89HDF": "an HDF5 file",
    b"MATLAB": "a MATLAB file",
}
_TAR = slice(257, 262)


def foreign(head: bytes) -> str | None:
    """Say what is none of the formats.

    Parameters
    ----------
    head : bytes
        How a file begins, unpacked.

    Returns
    -------
    str or None
        In words; None when it may be a graph.
    """
    for signature, name in _SIGNATURES.items():
        if head.startswith(signature):
            return name
    if head[_TAR] == b"ustar":
        return "a tar archive"
    return "HTML or XML" if head.lstrip().startswith(b"<") else None
