//! Does a directory lie on a file system that several machines share?
//!
//! A write-ahead log is coordinated through shared memory, which two machines do not have: on such a place they would
//! overwrite each other without noticing. Only Linux says what is mounted in a file; elsewhere the answer is "no".

use std::path::Path;

/// The kind of network file system that `path` lies on.
pub(super) fn file_system_of(path: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = std::fs::canonicalize(path).ok()?;
    kind_at(&mounts, &path).filter(|kind| is_network(kind)).map(str::to_owned)
}

/// The type of the mount that holds `path`: the deepest one, and of equals the one mounted last.
fn kind_at<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    mounts
        .lines()
        .filter_map(|line| {
            let (place, kind) = line.split_once(" - ")?;
            let point = unescape(place.split(' ').nth(4)?);
            let kind = kind.split(' ').next()?;
            path.starts_with(&point).then_some((Path::new(&point).components().count(), kind))
        })
        .max_by_key(|(depth, _)| *depth)
        .map(|(_, kind)| kind)
}

/// The kernel writes blanks and backslashes in paths as three octal digits.
fn unescape(point: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(point.to_owned(), |point, (escape, plain)| point.replace(escape, plain))
}

fn is_network(kind: &str) -> bool {
    const NAMES: [&str; 18] = [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "drvfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "ocfs2",
        "prl_fs",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    ];
    let fuse = ["fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.rclone", "fuse.vmhgfs-fuse"];
    NAMES.contains(&kind) || fuse.contains(&kind) || kind == "nfs4" || kind == "smb3"
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /mnt/our\\040share rw - nfs4 server:/x rw,vers=4.2
31 30 8:2 / /mnt/our\\040share/local rw master:1 - xfs /dev/sdb rw
32 22 0:41 / /host rw - 9p host rw
";

    fn check(path: &str, expected: &str, network: bool) {
        let kind = kind_at(MOUNTS, Path::new(path)).unwrap();
        assert_eq!((kind, is_network(kind)), (expected, network), "{path}");
    }

    #[test]
    fn the_deepest_mount_decides() {
        check("/home/dev", "ext4", false);
        check("/mnt/our share/runs", "nfs4", true);
        check("/mnt/our share/local/runs", "xfs", false);
        check("/mnt/our shares", "ext4", false);
        check("/host/.flower", "9p", true);
        assert_eq!(kind_at("", Path::new("/")), None);
    }
}
