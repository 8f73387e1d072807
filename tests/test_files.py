import stat

import pytest

from condensity._files import write_at_once


def test_files_are_written_at_once_or_not_at_all(tmp_path, monkeypatch):
    path = write_at_once(tmp_path / "deep" / "file", b"one")
    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644

    def full(handle):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_at_once(path, b"two")
    assert path.read_bytes() == b"one"
    assert [p.name for p in path.parent.iterdir()] == ["file"]
