# SPDX-License-Identifier: BSD-3-Clause
"""Looks at a build for macOS without one: what a Mac would refuse to load.  macho.py vhem-*-macos-*.tar.gz | vhem-*-macosx_*.whl ...

Every program and library in the archive
  - is for the processor in the archive's name and runs from macOS 11 on;
  - loads only libraries of the system, and libraries that lie in the archive where its search paths point;
  - finds each symbol that it takes from another library of the archive there;
  - has a signature whose hashes are those of its pages, without which Apple silicon starts nothing; Intel needs none.
libvhem shows the functions of vhem.h and, since zig's linker takes no list of them, some names of the compiler, but none of the
libraries in it.  Prints the symbols that are taken from the system with --symbols.
"""
import hashlib
import pathlib
import posixpath
import re
import struct
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OLDEST = (11, 0)
CPU = {"arm64": 0x0100000C, "x86_64": 0x01000007}
COMPILER = (".gomp_critical", "_.gomp_critical", "___kmp_", "___dso_handle", "__mh_")
SYMTAB, LOADS, RPATH, SIGNATURE, VERSION_MIN, BUILD = 0x02, (0x0C, 0x80000018, 0x8000001F), 0x8000001C, 0x1D, 0x24, 0x32


def members(archive):
    """Files of an archive: path -> bytes."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as z:
            return {name: z.read(name) for name in z.namelist()}
    with tarfile.open(archive) as t:
        return {m.name: t.extractfile(m).read() for m in t if m.isfile()}


def string(data, at):
    return data[at:data.index(b"\0", at)].decode()


class Binary:
    """The load commands of a Mach-O file of 64 bits, and its symbols."""

    def __init__(self, path, data):
        self.path, self.data = path, data
        self.cpu, _, _, n = struct.unpack_from("<IIII", data, 4)
        self.loads, self.rpaths, self.oldest, self.signature, self.undefined, self.exported = [], [], None, None, [], set()
        at = 32
        for _ in range(n):
            kind, size = struct.unpack_from("<II", data, at)
            if kind in LOADS:
                self.loads.append(string(data, at + struct.unpack_from("<I", data, at + 8)[0]))
            elif kind == RPATH:
                self.rpaths.append(string(data, at + struct.unpack_from("<I", data, at + 8)[0]))
            elif kind in (VERSION_MIN, BUILD):
                version = struct.unpack_from("<I", data, at + (8 if kind == VERSION_MIN else 12))[0]
                self.oldest = (version >> 16, version >> 8 & 255)
            elif kind == SIGNATURE:
                self.signature = struct.unpack_from("<II", data, at + 8)
            elif kind == SYMTAB:
                symbols = struct.unpack_from("<III", data, at + 8)
            at += size
        self.read_symbols(*symbols)

    def read_symbols(self, first, n, strings):
        for i in range(n):
            name, kind, _, more, _ = struct.unpack_from("<IBBHQ", self.data, first + 16 * i)
            if kind & 0xE0 or not kind & 1:
                continue  # of a debugger, or local
            text = string(self.data, strings + name)
            if kind & 0x0E:
                self.exported.add(text)
            else:
                self.undefined.append((text, self.loads[(more >> 8) - 1] if 0 < more >> 8 <= len(self.loads) else None))

    def unsigned(self):
        """Why the signature does not hold; None if it does."""
        if not self.signature:
            return "has no signature" if self.cpu == CPU["arm64"] else None
        at, _ = self.signature
        _, _, count = struct.unpack_from(">III", self.data, at)
        held = 0
        for i in range(count):
            slot, offset = struct.unpack_from(">II", self.data, at + 12 + 8 * i)
            if slot not in (0, *range(0x1000, 0x1006)):
                continue  # no directory of hashes
            start = at + offset
            hashes, n, limit = struct.unpack_from(">I", self.data, start + 16)[0], *struct.unpack_from(">II", self.data, start + 28)
            size, kind, page = struct.unpack_from(">BBxB", self.data, start + 36)
            digest = {1: hashlib.sha1, 2: hashlib.sha256}[kind]
            if limit != at:
                return f"its signature covers {limit} bytes of {at}"
            for k in range(n):
                end = min((k + 1) << page, limit)
                if digest(self.data[k << page:end]).digest()[:size] != self.data[start + hashes + k * size:start + hashes + (k + 1) * size]:
                    return f"page {k} is not the one that was signed"
            held += 1
        return None if held else "its signature has no hashes"


def found(name, loader, programs, binaries):
    """The file of the archive that a library's name leads to; None if there is none."""
    def resolved(path):
        path = path.replace("@loader_path", posixpath.dirname(loader.path)).replace("@executable_path", posixpath.dirname(loader.path))
        return posixpath.normpath(path)

    if name.startswith("@rpath/"):
        rpaths = [r for b in (loader, *programs) for r in b.rpaths]
        places = [resolved(name.replace("@rpath", r)) for r in rpaths]
    else:
        places = [resolved(name)]
    return next((binaries[p] for p in places if p in binaries), None)


def check(archive):
    wrong = []
    binaries = {path: Binary(path, data) for path, data in members(archive).items() if data[:4] == b"\xcf\xfa\xed\xfe"}
    programs = [b for b in binaries.values() if struct.unpack_from("<I", b.data, 12)[0] == 2]
    cpu = next(CPU[name] for name in CPU if name in archive.name)
    system = set()
    if not programs:
        wrong.append("no program")
    for b in binaries.values():
        say = lambda text, b=b: wrong.append(f"{posixpath.basename(b.path)}: {text}")
        if b.cpu != cpu:
            say(f"for processor {b.cpu:x}, not {cpu:x}")
        if not b.oldest or b.oldest > OLDEST:
            say(f"needs macOS {b.oldest}, not {OLDEST}")
        if b.unsigned():
            say(b.unsigned())
        for name in b.loads:
            if name.startswith(("/usr/lib/", "/System/")):
                continue
            if not found(name, b, programs, binaries):
                say(f"loads {name}, which is not where {b.rpaths} point")
        for symbol, library in b.undefined:
            if library is None:
                say(f"{symbol} is of no library")
            elif library.startswith(("/usr/lib/", "/System/")):
                system.add((library, symbol))
            elif (there := found(library, b, programs, binaries)) and symbol not in there.exported:
                say(f"{symbol} is not in {library}")
    for b in binaries.values():
        if posixpath.basename(b.path) == "libvhem.dylib":
            functions = re.findall(r"VHEM_(?:API|RESULT)[^;(]*?\b(vhem_\w+)\(", (ROOT / "include/vhem.h").read_text())
            wrong += [f"libvhem.dylib: {name} is missing" for name in functions if f"_{name}" not in b.exported]
            wrong += [f"libvhem.dylib: {name} is shown" for name in sorted(b.exported) if not name.startswith(("_vhem_", *COMPILER))]
    libraries = sorted({library for library, _ in system})
    print(f"{archive.name}: {len(binaries)} files for macOS {OLDEST[0]}.{OLDEST[1]}, {len(system)} symbols of {', '.join(libraries)}")
    if "--symbols" in sys.argv:
        print("\n".join(f"  {library} {symbol}" for library, symbol in sorted(system)))
    return [f"{archive.name}: {line}" for line in wrong]


def main():
    wrong = [line for name in sys.argv[1:] if name != "--symbols" for line in check(pathlib.Path(name))]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
