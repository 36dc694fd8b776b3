package sqlite

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// TestPreparedOnce checks that SQLite does not compile a statement again when the arguments
// change. SQLite does so if its plan depends on an argument, such as a LIMIT, which costs more
// than running the statement.
func TestPreparedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := openRaw(t, path)
	texts := statements()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := numbered(texts[name])
		if n := db.compilations(t, text); n != 0 {
			t.Errorf("%s was compiled %d times more:\n%s", name, n, texts[name])
		}
	}
}

// A raw is a connection made without the driver, because the driver does not report how often a
// statement was compiled.
type raw struct {
	tls *libc.TLS
	db  uintptr
}

func openRaw(t *testing.T, path string) raw {
	t.Helper()
	tls := libc.NewTLS()
	out, name := libc.Xmalloc(tls, 8), cstring(t, tls, path)
	if rc := lib.Xsqlite3_open_v2(tls, name, out, lib.SQLITE_OPEN_READWRITE, 0); rc != lib.SQLITE_OK {
		t.Fatalf("open: code %d", rc)
	}
	r := raw{tls, pointer(out)}
	t.Cleanup(func() {
		lib.Xsqlite3_close_v2(tls, r.db)
		libc.Xfree(tls, name)
		libc.Xfree(tls, out)
		tls.Close()
	})
	return r
}

// compilations runs a statement three times with different arguments, and returns how often
// SQLite compiled it again.
func (r raw) compilations(t *testing.T, text string) int32 {
	t.Helper()
	out, sql := libc.Xmalloc(r.tls, 8), cstring(t, r.tls, text)
	defer libc.Xfree(r.tls, out)
	defer libc.Xfree(r.tls, sql)
	if rc := lib.Xsqlite3_prepare_v2(r.tls, r.db, sql, -1, out, 0); rc != lib.SQLITE_OK {
		t.Fatalf("compile: code %d\n%s", rc, text)
	}
	stmt := pointer(out)
	defer lib.Xsqlite3_finalize(r.tls, stmt)
	for i := range int64(3) {
		for n := range lib.Xsqlite3_bind_parameter_count(r.tls, stmt) {
			lib.Xsqlite3_bind_int64(r.tls, stmt, n+1, i+1)
		}
		// Neither its rows nor its error matters.
		for lib.Xsqlite3_step(r.tls, stmt) == lib.SQLITE_ROW {
		}
		lib.Xsqlite3_reset(r.tls, stmt)
	}
	return lib.Xsqlite3_stmt_status(r.tls, stmt, lib.SQLITE_STMTSTATUS_REPREPARE, 0)
}

func cstring(t *testing.T, tls *libc.TLS, text string) uintptr {
	t.Helper()
	p, err := libc.CString(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pointer returns the pointer that is stored at an address of C memory.
func pointer(at uintptr) uintptr { return **(**uintptr)(unsafe.Pointer(&at)) }
