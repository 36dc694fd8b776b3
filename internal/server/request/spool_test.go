package request_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
)

const (
	long = 200 << 10 // more than maxInMemory
	most = 25 << 20
)

// receive reads a body of n bytes; announced: its length is sent.
func receive(t *testing.T, s *request.Spool, n int64, announced bool) (*request.Spooled, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.LimitReader(endless{}, n))
	if r.ContentLength = -1; announced {
		r.ContentLength = n
	}
	return s.Read(httptest.NewRecorder(), r, most, io.Discard)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestSpoolFolder checks that a long body is stored in the configured folder even if there is no
// system folder for temporary files, and that no file is left there.
func TestSpoolFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	t.Setenv("TMP", filepath.Join(dir, "missing"))
	body, err := receive(t, request.OpenSpool(dir, 1<<20), long, true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(body.Reader())
	if err != nil || len(got) != long || body.Size() != long {
		t.Errorf("got %d bytes, size %d, %v", len(got), body.Size(), err)
	}
	body.Close()
	if left := names(t, dir); left != "" {
		t.Errorf("left: %s", left)
	}
}

// TestSpoolBound checks that long bodies are refused while the stored ones reach the limit. Short
// bodies are kept in memory and not affected.
func TestSpoolBound(t *testing.T) {
	t.Parallel()
	for name, announced := range map[string]bool{"announced": true, "of unknown length": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := request.OpenSpool(t.TempDir(), 3*long)
			var kept []*request.Spooled
			for range 3 {
				body, err := receive(t, s, long, announced)
				if err != nil {
					t.Fatal(err)
				}
				kept = append(kept, body)
			}
			_, err := receive(t, s, long, announced)
			answer, ok := errors.AsType[*response.Error](err)
			if !ok || answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || answer.Warning != response.TooManyBodies {
				t.Errorf("got %v %+v, want 503 with Retry-After", err, answer)
			}
			short, err := receive(t, s, 100, true)
			if err != nil {
				t.Fatalf("a short one: %v", err)
			}
			short.Close()
			kept[0].Close()
			kept[0].Close() // a second Close has no effect
			for i, want := range []bool{true, false} {
				body, err := receive(t, s, long, announced)
				if (err == nil) != want {
					t.Errorf("after one ended, number %d: got %v", i+1, err)
				}
				if err == nil {
					kept = append(kept, body)
				}
			}
			for _, body := range kept {
				body.Close()
			}
			whole, err := receive(t, s, 3*long, announced)
			if err != nil {
				t.Fatalf("after all ended: %v", err)
			}
			whole.Close()
		})
	}
}

// TestSpoolBoundAfterFailure checks that bodies that ended too early no longer count.
func TestSpoolBoundAfterFailure(t *testing.T) {
	t.Parallel()
	s := request.OpenSpool(t.TempDir(), 2*long)
	for range 5 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.MultiReader(io.LimitReader(endless{}, long), broken{}))
		r.ContentLength = 2 * long
		if _, err := s.Read(httptest.NewRecorder(), r, most, io.Discard); err == nil {
			t.Fatal("half a body was taken")
		}
	}
	body, err := receive(t, s, 2*long, true)
	if err != nil {
		t.Fatal(err)
	}
	body.Close()
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestSpoolLeftovers checks that only the files of a killed process are removed.
func TestSpoolLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"foreman-body-123", "queue.db", "foreman-bodies"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "foreman-body-dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	request.OpenSpool(dir, 1<<20)
	if got, want := names(t, dir), "foreman-bodies foreman-body-dir queue.db"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}
