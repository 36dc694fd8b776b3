package assembly

import (
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/internal/config/serverconfig"
)

// TestOwnerOf checks that two servers on a machine have different owners, and that a server has the
// same owner at each start, even after a change of a password.
func TestOwnerOf(t *testing.T) {
	t.Parallel()
	abs, err := filepath.Abs("queue.db")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		a, b string // locations of the queues
		port int    // port of server b; server a has 8000
		same bool
	}{
		{"same", "queue.db", "queue.db", 8000, true},
		{"written otherwise", "queue.db", "file:./" + "queue.db", 8000, true},
		{"absolute", "queue.db", abs, 8000, true},
		{"other folder", "/a/queue.db", "/b/queue.db", 8000, false},
		{"other port", "queue.db", "queue.db", 8001, false},
		{"password", "postgres://u:one@db/q", "postgres://v:two@db/q?password=three", 8000, true},
		{"several hosts", "postgres://u:one@a:1,b:2/q", "postgresql://a:1,b:2/q", 8000, true},
		{"other host", "postgres://u@a/q", "postgres://u@b/q", 8000, false},
		{"other database", "postgres://u@a/q", "postgres://u@a/r", 8000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := ownerOf(tt.a, serverconfig.Server{Host: "127.0.0.1", Port: 8000})
			b := ownerOf(tt.b, serverconfig.Server{Host: "127.0.0.1", Port: tt.port})
			if (a == b) != tt.same || len(a) != 12 {
				t.Errorf("got %s and %s", a, b)
			}
		})
	}
}
