"""Scrapy's source with its tests, as the package index has it, kept outside the project."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from weft.errors import ConfigError

#: Scrapy's tests of handlers and link extractors, on ours. They use Scrapy's fixtures, which hold
#: only for files below its root.
CASES = sorted((Path(__file__).parent / "cases").glob("test_weft_*.py"))


def default_cache() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "weft" / "scrapy-suite"


def fetch(version: str, cache: Path) -> Path:
    """The unpacked source of this version. Raises ConfigError if it cannot be had."""
    tree = cache / f"scrapy-{version}"
    if not tree.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cache) as scratch:
            _unpack(_download(version, Path(scratch)), Path(scratch)).rename(tree)
    for case in CASES:
        shutil.copy(case, tree / "tests")
    return tree


def _download(version: str, directory: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    what = ["--no-deps", "--no-binary", "scrapy", f"scrapy=={version}"]
    done = subprocess.run([*pip, *what, "--dest", directory], capture_output=True, text=True)
    found = next(directory.glob("*.tar.gz"), None)
    if done.returncode or found is None:
        raise ConfigError(
            f"pip could not download the source of Scrapy {version}: {done.stderr.strip()[-500:]}; "
            "check the network and the package index of pip"
        )
    return found


def _unpack(archive: Path, directory: Path) -> Path:
    with tarfile.open(archive) as opened:
        opened.extractall(directory, filter="data")
    return next(path for path in directory.iterdir() if path.is_dir())
