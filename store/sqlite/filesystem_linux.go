package sqlite

import (
	"fmt"
	"syscall"
)

// remote returns the network file systems by their magic numbers.
func remote() map[uint32]string {
	return map[uint32]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x5346414f: "AFS", 0x01021997: "9P",
		0x00c36400: "Ceph", 0x01161970: "GFS2", 0x7461636f: "OCFS2", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS",
	}
}

// local returns an error for a folder on a network file system.
func local(dir string) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return fmt.Errorf("inspect the file system of %s: %w", dir, err)
	}
	return checkMagic(dir, uint32(s.Type)) //nolint:gosec // a magic number has 32 bits, of whatever sign
}

func checkMagic(dir string, magic uint32) error {
	if name := remote()[magic]; name != "" {
		return refused(dir, name)
	}
	return nil
}
