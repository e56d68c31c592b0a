"""Which kind of file system a path lies on, from lines of mountinfo."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.store.filesystems import NETWORK, filesystem_of, kind_of, network_filesystem

MOUNTS = r"""
22 28 0:21 / /proc rw,nosuid shared:5 - proc proc rw
28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
41 28 0:35 / /home rw shared:20 - nfs4 server:/export rw,vers=4.2
42 41 8:3 / /home/you/local rw shared:21 master:3 - xfs /dev/sdb1 rw
43 28 0:40 / /mnt/two\040words rw shared:22 - cifs //server/share rw
44 28 0:41 / /over rw - ext4 /dev/sdc1 rw
45 44 0:42 / /over rw - fuse.sshfs host:/ rw
damaged line
46 28 0:43 / /short
""".splitlines()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib", "ext4"),
        ("/home/you/.config/ctxhost", "nfs4"),
        ("/home/you/local", "xfs"),
        ("/home/you/local/deep/down", "xfs"),
        ("/homeless", "ext4"),
        ("/mnt/two words/archive", "cifs"),
        ("/over/there", "fuse.sshfs"),
        ("/short", "ext4"),
    ],
)
def test_the_longest_mount_point_decides_and_of_two_the_later(path: str, kind: str) -> None:
    assert kind_of(Path(path), MOUNTS) == kind


def test_no_mount_point_no_kind() -> None:
    assert kind_of(Path("/x"), []) is None


def test_a_local_folder_is_on_no_network(tmp_path: Path) -> None:
    kind = filesystem_of(tmp_path / "not" / "there" / "yet")
    assert network_filesystem(tmp_path) == (kind if kind in NETWORK else None)
