package database

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/config/serverconfig"
)

// Locations are the location of a server's database, and that of a file of earlier versions. Each is
// the path of a SQLite file, with or without "file:", or the URL of a PostgreSQL database, which may
// contain a password.
type Locations struct {
	Queue string // of the database
	// Memory is the file in which earlier versions kept the memory; empty: none. It need not exist.
	Memory string
	// Left is a file of the memory in the default folder that is not used, because the database is
	// elsewhere: it may belong to another server. Empty: there is none.
	Left string
}

// Folder returns the folder of the SQLite file; empty: the database is in PostgreSQL.
func (l Locations) Folder() string {
	if path, ok := File(l.Queue); ok {
		return filepath.Dir(path)
	}
	return ""
}

// File returns the path of the SQLite file at a location. ok is false for PostgreSQL.
func File(location string) (path string, ok bool) {
	return strings.TrimPrefix(location, "file:"), !serverconfig.Postgres(location)
}

// Redacted returns a location for logs, without a password.
func Redacted(location string) string {
	if !serverconfig.Postgres(location) {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		return "PostgreSQL"
	}
	return "PostgreSQL at " + u.Host + u.Path
}

// Key returns a text that identifies the database at a location on this machine. It does not depend
// on the spelling, the user or the password.
func Key(location string) string {
	path, ok := File(location)
	if !ok {
		// net/url rejects addresses with several hosts.
		_, rest, _ := strings.Cut(location, "://")
		rest, _, _ = strings.Cut(rest, "?")
		return "postgres://" + rest[strings.LastIndex(rest, "@")+1:]
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
