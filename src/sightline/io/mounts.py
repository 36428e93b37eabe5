"""What kind of file system a folder lies on."""

from pathlib import Path

MOUNTS = Path("/proc/mounts")
NETWORK = (
    "nfs",
    "cifs",
    "smb",
    "lustre",
    "gpfs",
    "ceph",
    "beegfs",
    "afs",
    "9p",
    "glusterfs",
    "fuse.sshfs",
    "fuse.s3",
)
"""How the names of file systems begin that several machines share."""


def on_network(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether a path lies on a file system that several machines share; False where the system does not tell."""
    place = path.resolve()
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    best = ("", "")
    for line in lines:
        _, folder, kind, *_ = [*line.split(), "", "", ""]
        folder = folder.replace("\\040", " ")
        if folder and place.is_relative_to(folder) and len(folder) >= len(best[0]):
            best = (folder, kind)
    return best[1].startswith(NETWORK)


def journal_mode(path: Path) -> str:
    """How SQLite shall keep a file there: its write-ahead log needs memory that all writers share, so one machine."""
    return "TRUNCATE" if on_network(path) else "WAL"
