package sqlite

import "testing"

func TestURI(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/var/lib/q.db":      "file:///var/lib/q.db?mode=rw",
		"/a b/c%20?d#e/q.db": "file:///a%20b/c%2520%3Fd%23e/q.db?mode=rw",
		"C:/Users/me/q.db":   "file:///C:/Users/me/q.db?mode=rw",
		"//server/share/q":   "file:////server/share/q?mode=rw",
	} {
		if got := uri(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
