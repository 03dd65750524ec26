"""Loaders of the paper's public data sets, on small files of the same formats, whole and broken."""

from __future__ import annotations

import bz2
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from measuring.data.downloads import DatasetError, RemoteFile, checksum
from measuring.data.public import (
    EpsilonFiles,
    FlightFiles,
    GisetteFiles,
    load_real,
    read_epsilon,
    read_flight,
    read_gisette,
)

HEAD = "Month,DayofMonth,DayOfWeek,DepTime,UniqueCarrier,Origin,Dest,Distance,dep_delayed_15min"


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Where files are "published": a folder reached by file:// addresses."""
    folder = tmp_path / "published"
    folder.mkdir()
    return folder


def publish(server: Path, name: str, content: bytes) -> RemoteFile:
    (server / name).write_bytes(content)
    return RemoteFile(name, (server / name).as_uri())


def gisette(server: Path, train: bytes = b"1 2 3\n4 5 6\n") -> GisetteFiles:
    return GisetteFiles(
        publish(server, "a.data", train),
        publish(server, "a.labels", b"1\n-1\n"),
        publish(server, "b.data", b"7 8 9 \n"),
        publish(server, "b.labels", b"-1\n"),
        ((2, 3), (1, 3)),
    )


def epsilon(server: Path, train: bytes | None = None) -> EpsilonFiles:
    packed = bz2.compress(b"1 1:0.5 3:-2\n-1 2:1e-3\n1 1:9\n") if train is None else train
    return EpsilonFiles(
        publish(server, "e.bz2", packed),
        publish(server, "e.t.bz2", bz2.compress(b"-1 3:4\n")),
        ((2, 3), (1, 3)),
    )


def flight(server: Path, train: str | None = None) -> FlightFiles:
    rows = "c-1,c-2,c-3,900,AA,SFO,LAX,337,Y\nc-2,c-2,c-3,1000,BB,LAX,SFO,337,N\n"
    text = f"{HEAD}\n{rows}" if train is None else train
    tested = f"{HEAD}\nc-2,c-2,c-3,5,ZZ,LAX,SFO,1,N\n"
    return FlightFiles(
        publish(server, "train.csv", text.encode()), publish(server, "test.csv", tested.encode()), (2, 1)
    )


def test_gisette(server: Path, tmp_path: Path) -> None:
    data = read_gisette(tmp_path / "cache", gisette(server))
    np.testing.assert_array_equal(data.X_train, [[1, 2, 3], [4, 5, 6]])
    assert (data.y_train.tolist(), data.X_test.tolist(), data.y_test.tolist()) == ([1, 0], [[7, 8, 9]], [0])


def test_epsilon_reads_the_first_rows(server: Path, tmp_path: Path) -> None:
    data = read_epsilon(tmp_path / "cache", epsilon(server))
    np.testing.assert_array_equal(data.X_train, np.array([[0.5, 0, -2], [0, 1e-3, 0]], dtype=np.float32))
    assert (data.y_train.tolist(), data.X_test.tolist(), data.y_test.tolist()) == ([1, 0], [[0, 0, 4]], [0])


def test_flight_shares_codes_and_knows_no_new_category(server: Path, tmp_path: Path) -> None:
    data = read_flight(tmp_path / "cache", flight(server))
    assert data.categorical == (0, 1, 2, 4, 5, 6)
    np.testing.assert_array_equal(data.X_train[:, 0], [0, 1])
    np.testing.assert_array_equal(data.X_test, [[1, 0, 0, 5, np.nan, 0, 1, 1]])
    assert data.y_train.tolist() == [1, 0]


def test_a_file_is_downloaded_once_and_a_local_copy_will_do(server: Path, tmp_path: Path) -> None:
    file = publish(server, "x", b"content")
    path = file.get(tmp_path / "cache")
    (server / "x").unlink()
    assert file.get(tmp_path / "cache") == path
    copied = RemoteFile("y", (server / "absent").as_uri())
    (tmp_path / "cache" / "y").write_bytes(b"mine")
    assert copied.get(tmp_path / "cache").read_bytes() == b"mine"
    assert sorted(p.name for p in path.parent.iterdir()) == ["x", "x.sha256", "y", "y.sha256"]


def test_the_first_checksum_holds_from_then_on(server: Path, tmp_path: Path) -> None:
    file = publish(server, "x", b"content")
    path = file.get(tmp_path)
    path.write_bytes(b"conten!")
    with pytest.raises(DatasetError, match=r"SHA-256.*delete the file"):
        file.get(tmp_path)


def test_a_given_checksum_is_verified(server: Path, tmp_path: Path) -> None:
    url = publish(server, "x", b"content").url
    with pytest.raises(DatasetError, match="SHA-256"):
        RemoteFile("x", url, "0" * 64).get(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.sha256").write_text("0" * 64 + "  x\n")
    with pytest.raises(DatasetError, match="SHA-256"):
        RemoteFile("x", url).get(tmp_path / "b")
    assert RemoteFile("x", url, checksum(server / "x")).get(tmp_path / "c").is_file()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "file:///nowhere/at/all"])
def test_without_the_network_the_error_says_where_to_put_the_file(url: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="put it at") as caught:
        RemoteFile("x", url).get(tmp_path)
    assert str(tmp_path / "x") in str(caught.value)
    assert list(tmp_path.iterdir()) == []  # nothing half done is left behind


@pytest.mark.parametrize(
    "train", [b"1 2 3\n", b"1 2 3\n4 5\n", b"1 2 3\n4 5 x\n", b"1 2 3\n4 5 6\n7 8 9\n", b""]
)
def test_broken_gisette(server: Path, tmp_path: Path, train: bytes) -> None:
    check_broken(lambda folder: read_gisette(folder, gisette(server, train)), tmp_path)


@pytest.mark.parametrize(
    "train",
    [
        bz2.compress(b"1 1:0.5\n-1 2:1\n")[:-12],
        b"not packed",
        bz2.compress(b"1 1:0.5\n"),
        bz2.compress(b"1 1:0.5\n1 4:1\n"),
        bz2.compress(b"1 1:0.5\n1 2\n"),
        bz2.compress(b"1 1:0.5\none 2:1\n"),
    ],
)
def test_broken_epsilon(server: Path, tmp_path: Path, train: bytes) -> None:
    check_broken(lambda folder: read_epsilon(folder, epsilon(server, train)), tmp_path)


@pytest.mark.parametrize("train", ["", "a,b\n1,2\n", f"{HEAD}\n1,2\n", f"{HEAD}\n"])
def test_broken_flight(server: Path, tmp_path: Path, train: str) -> None:
    check_broken(lambda folder: read_flight(folder, flight(server, train)), tmp_path)


def check_broken(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"delete it and .* or put a whole copy"):
        read(tmp_path / "cache")


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give one of Gisette, Epsilon, Flight"):
        load_real("MNIST", tmp_path)
