"""Where the bytes of a table come from, told with a small table served on this machine."""

import gzip
import hashlib
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import condensity.datasets.downloads as downloads
from condensity.datasets import load
from condensity.datasets.catalogue import CATALOGUE, Entry

CSV = b"size,colour,note,price\n1.5,red,a,10\n,green,b,20\n2.5,blue,,30\n"
FILES = {"tiny.csv": CSV, "tiny.csv.gz": gzip.compress(CSV, mtime=0)}


@pytest.fixture(params=sorted(FILES))
def tiny(request, monkeypatch, tmp_path):
    """The entry "Tiny" in the catalogue, plain and packed; an empty cache; nothing configured."""
    content = FILES[request.param]
    entry = Entry(
        request.param,
        len(content),
        hashlib.sha256(content).hexdigest(),
        targets=("price",),
        unused=("note",),
        codes={"colour": ("red", "green", "blue")},
        source="made up",
    )
    monkeypatch.setitem(CATALOGUE, "Tiny", entry)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    for variable in ("CONDENSITY_DATA", "CONDENSITY_DATA_URL"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(variable, "127.0.0.1")
    return entry


@pytest.fixture
def cache(tiny, tmp_path):
    return tmp_path / "cache" / "condensity"


class Server(ThreadingHTTPServer):
    """Serves ``files`` below /data; ``withheld`` bytes are announced and not sent."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.withheld, self.asked = dict(FILES), 0, []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/data"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path.removeprefix("/data/"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + self.server.withheld))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Nothing: tests read the standard error."""


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def assert_is_tiny(table):
    np.testing.assert_array_equal(table.X, [[1.5, 1.0], [2.5, 3.0]])
    np.testing.assert_array_equal(table.y, [10.0, 30.0])


def in_folder(folder, entry, content=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / entry.file).write_bytes(FILES[entry.file] if content is None else content)
    return folder


def spoilt(content):
    """The same length, another content."""
    return content[:-2] + bytes(255 - byte for byte in content[-2:])


def test_a_download_is_kept_and_not_repeated(tiny, server, cache):
    assert_is_tiny(load("Tiny", base_url=server.url + "/"))
    assert_is_tiny(load("Tiny", base_url=server.url))
    assert server.asked == [f"/data/{tiny.file}"]
    assert [path.name for path in cache.iterdir()] == [tiny.file]


def test_what_was_downloaded_needs_no_address_again(tiny, server):
    load("Tiny", base_url=server.url)
    assert_is_tiny(load("Tiny"))


def test_address_and_folder_come_from_the_environment(tiny, server, monkeypatch, tmp_path):
    monkeypatch.setenv("CONDENSITY_DATA_URL", server.url)
    monkeypatch.setenv("CONDENSITY_DATA", str(in_folder(tmp_path / "own", tiny)))
    assert_is_tiny(load("Tiny"))
    assert server.asked == []
    monkeypatch.setenv("CONDENSITY_DATA", "")  # not set, and not the working folder
    monkeypatch.chdir(in_folder(tmp_path / "bad", tiny, b"bad"))
    assert_is_tiny(load("Tiny"))
    assert len(server.asked) == 1


def test_the_folder_given_goes_before_the_one_of_the_environment(tiny, monkeypatch, tmp_path):
    monkeypatch.setenv("CONDENSITY_DATA", str(in_folder(tmp_path / "bad", tiny, b"bad")))
    assert_is_tiny(load("Tiny", folder=in_folder(tmp_path / "good", tiny)))


def test_a_folder_without_the_file_leaves_it_to_the_others(tiny, server, cache, tmp_path):
    (tmp_path / "empty").mkdir()
    assert_is_tiny(load("Tiny", folder=tmp_path / "empty", base_url=server.url))
    assert list((tmp_path / "empty").iterdir()) == []
    assert_is_tiny(load("Tiny", folder=tmp_path / "empty"))


def test_a_folder_needs_no_pooch(tiny, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert_is_tiny(load("Tiny", folder=in_folder(tmp_path / "own", tiny)))
    with pytest.raises(ModuleNotFoundError, match=r"pooch>=.*', or set CONDENSITY_DATA"):
        load("Tiny")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (spoilt, "its sha256 is {found}, expected {expected}"),
        (lambda content: content[:-7], "it sent {less} of {size} bytes"),
        (lambda content: content + b"\n", "it sent more than {size} bytes"),
    ],
    ids=["corrupted", "truncated", "too long"],
)
def test_what_is_served_wrong_is_refused_and_not_kept(tiny, server, cache, change, message):
    wrong = server.files[tiny.file] = change(FILES[tiny.file])
    with pytest.raises(ValueError) as caught:
        load("Tiny", base_url=server.url)
    found = hashlib.sha256(wrong).hexdigest()
    why = message.format(found=found, expected=tiny.sha256, size=tiny.size, less=tiny.size - 7)
    url = f"{server.url}/{tiny.file}"
    assert str(caught.value).startswith(f"{url} is not the expected file: {why}: try")
    assert list(cache.iterdir()) == []


def test_a_broken_connection_leaves_nothing_behind(tiny, server, cache):
    server.withheld = 100
    with pytest.raises(OSError, match=f"{tiny.file} could not be downloaded from .*check"):
        load("Tiny", base_url=server.url)
    assert list(cache.iterdir()) == []
    server.withheld = 0
    assert_is_tiny(load("Tiny", base_url=server.url))


def test_an_interrupted_download_leaves_nothing_behind(tiny, server, cache, monkeypatch):
    def interrupt(entry, count):
        assert len(list(cache.iterdir())) == 1  # the temporary file
        raise KeyboardInterrupt

    monkeypatch.setattr(downloads, "_no_progress_bar", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("Tiny", base_url=server.url)
    assert list(cache.iterdir()) == []


def test_a_file_that_is_not_there_is_said_to_be_missing(tiny, server):
    url = f"{server.url}/elsewhere"
    with pytest.raises(OSError, match=f"from {url}/{tiny.file}: 404 .*or set CONDENSITY_DATA"):
        load("Tiny", base_url=url)


def test_an_unreachable_address_is_said_to_refuse(tiny):
    with socket.socket() as nobody:  # bound and not listening: the port is taken, and refuses
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/data"
        refused = rf"from {url}/{tiny.file}: \[Errno \d+\] [^:]+: check"
        with pytest.raises(OSError, match=refused):
            load("Tiny", base_url=url)


def test_without_folder_and_address_both_are_named(tiny, cache):
    with pytest.raises(FileNotFoundError) as caught:
        load("Tiny")
    said = str(caught.value)
    assert said.startswith(f"{tiny.file} is neither in CONDENSITY_DATA (not set) nor in {cache}, ")
    assert "set CONDENSITY_DATA to a folder" in said
    assert "or CONDENSITY_DATA_URL to" in said
    assert tiny.source in said


def test_another_file_of_that_name_in_the_folder_is_refused(tiny, server, tmp_path):
    wrong = spoilt(FILES[tiny.file])
    folder = in_folder(tmp_path / "own", tiny, wrong)
    with pytest.raises(ValueError) as caught:
        load("Tiny", folder=folder, base_url=server.url)
    for said in (folder / tiny.file, hashlib.sha256(wrong).hexdigest(), tiny.sha256, "replace it"):
        assert str(said) in str(caught.value)
    assert server.asked == []


def test_a_spoilt_cache_is_refused_or_mended(tiny, server, cache):
    in_folder(cache, tiny, b"spoilt")
    with pytest.raises(ValueError, match=r"it has 6 bytes and sha256 .* delete it, or set COND"):
        load("Tiny")
    assert_is_tiny(load("Tiny", base_url=server.url))
    assert_is_tiny(load("Tiny"))


def test_a_misspelt_folder_is_refused(tiny, server, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist: set CONDENSITY_DATA"):
        load("Tiny", folder=tmp_path / "nowhere", base_url=server.url)
    assert server.asked == []


@pytest.mark.parametrize("url", ["file:///data", "doi:10.1/2", "127.0.0.1/data"])
def test_other_addresses_are_refused(tiny, url):
    with pytest.raises(ValueError, match=f"must start with http.*got '{url}'.*CONDENSITY_DATA"):
        load("Tiny", base_url=url)


@pytest.mark.parametrize(("progress", "drawn"), [(True, True), (False, False)])
def test_a_bar_is_drawn_on_a_terminal(tiny, server, monkeypatch, capsys, progress, drawn):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    load("Tiny", base_url=server.url, progress=progress)
    assert (f"{tiny.file} [{'#' * 30}]" in capsys.readouterr().err) == drawn


def test_no_bar_is_drawn_elsewhere(tiny, server, capsys):
    load("Tiny", base_url=server.url)
    assert "#" not in capsys.readouterr().err
