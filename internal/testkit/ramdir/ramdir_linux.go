package ramdir

import "golang.org/x/sys/unix"

// memory is where Linux systems have a file system in memory for all users.
const memory = "/dev/shm"

// usable reports whether a folder is in memory, has enough free space, is writable, and can contain
// programs that run.
func usable(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Type != unix.TMPFS_MAGIC {
		return false
	}
	free := s.Bavail * uint64(max(s.Bsize, 0))
	return s.Flags&unix.ST_NOEXEC == 0 && free >= needed && unix.Access(dir, unix.W_OK|unix.X_OK) == nil
}
