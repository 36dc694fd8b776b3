package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// local returns an error for a folder on NFS, SMB or 9P.
func local(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("inspect the file system of %s: %w", dir, err)
	}
	return checkType(dir, uint32(s.Type)) //nolint:gosec // a type has 32 bits, of whatever sign
}

func checkType(dir string, fs uint32) error {
	switch fs {
	case unix.NFS_SUPER_MAGIC:
		return refused(dir, "NFS")
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return refused(dir, "SMB")
	case unix.V9FS_MAGIC: // also the drives of Windows in WSL
		return refused(dir, "9P")
	}
	return nil
}
