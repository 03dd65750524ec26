"""Files from public addresses: downloaded once, their checksums kept beside them and verified ever after."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from measuring.files import replacing, write_text

_SECONDS = 60
_CHUNK = 1 << 20


class DatasetError(Exception):
    """A file of a data set is missing or broken; the message says how to supply it."""


@dataclass(frozen=True)
class RemoteFile:
    """A file and where to get it.

    Attributes
    ----------
    name : str
        In the folder.
    url : str
    sha256 : str or None
        None where it is not known: the checksum of the first download is then written to ``name.sha256``
        and holds from then on. Whoever knows the right one can put it there first.
    """

    name: str
    url: str
    sha256: str | None = None

    def get(self, folder: Path) -> Path:
        """Return the path of the file in a folder; downloads it if it is not there.

        Raises
        ------
        DatasetError
            If it cannot be downloaded, or its checksum is wrong.
        """
        path = folder / self.name
        if not path.is_file():
            self._download(path)
        found, expected = checksum(path), self._expected(folder)
        if expected is None:
            write_text(self._note(folder), found + "\n")
        elif found != expected:
            raise DatasetError(
                f"{path} has the SHA-256 checksum {found}, expected was {expected}: delete the file to "
                f"download it again from {self.url}, or put a whole copy in its place; if the new file is "
                f"right, delete {self._note(folder)}"
            )
        return path

    def broken(self, path: Path, why: str) -> DatasetError:
        """Return the error for a file whose content is not what it should be."""
        note = path.with_name(f"{self.name}.sha256")
        return DatasetError(
            f"{path}: {why}: delete it and {note} to download it again from {self.url}, "
            "or put a whole copy there"
        )

    def _note(self, folder: Path) -> Path:
        return folder / f"{self.name}.sha256"

    def _expected(self, folder: Path) -> str | None:
        if self.sha256 is not None:
            return self.sha256
        note = self._note(folder)
        # As sha256sum writes it, the name may follow.
        return note.read_text(encoding="ascii").split()[0] if note.is_file() else None

    def _download(self, path: Path) -> None:
        try:
            with replacing(path) as aside:
                with urlopen(self.url, timeout=_SECONDS) as answer, aside.open("wb") as file:
                    shutil.copyfileobj(answer, file, _CHUNK)
                    length = answer.headers.get("Content-Length")
                received = aside.stat().st_size
                if length is not None and received != int(length):
                    raise DatasetError(
                        f"the download of {self.url} ended after {received:,} of {int(length):,} bytes: "
                        f"try again, or put a copy at {path}"
                    )
        except (URLError, TimeoutError, ConnectionError) as failure:
            raise DatasetError(
                f"{self.url} cannot be downloaded ({failure}): get it elsewhere and put it at {path}"
            ) from failure


def checksum(path: Path) -> str:
    """Return the SHA-256 checksum of a file as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
