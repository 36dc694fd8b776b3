package sqlite

import "fmt"

// refused returns an error for a folder on a network file system. There, processes of several machines
// would share one file, but not the memory that SQLite shares between processes.
func refused(dir, system string) error {
	return fmt.Errorf("%s is on %s, where SQLite can lose writes: use a local disk, or PostgreSQL", dir, system)
}
