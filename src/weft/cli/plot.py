"""`--plot FILE`, checked before the work starts."""

from importlib.util import find_spec
from pathlib import Path

from weft.errors import ConfigError

PLOT_KINDS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    if path.suffix.lower() not in PLOT_KINDS:
        kinds = ", ".join(PLOT_KINDS)
        raise ConfigError(f"--plot {path}: unknown kind of picture; use one of {kinds}")
    if not path.parent.is_dir():
        raise ConfigError(f"--plot {path}: there is no directory {path.parent}; create it first")
    if find_spec("matplotlib") is None:
        raise ConfigError("--plot needs matplotlib; install it with: pip install 'weft[plot]'")
