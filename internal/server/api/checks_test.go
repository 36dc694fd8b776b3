package api_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// TestChecks checks that each requirement of the wire about HTTP has a line in testdata/checks.txt,
// and that the test which the line names exists.
func TestChecks(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/checks.txt")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	files, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	missing := map[int]bool{54: true, 55: true, 57: true, 58: true}
	for n := 1; n <= 29; n++ {
		missing[n] = n <= 22 || n >= 26
	}
	for line := range strings.Lines(string(table)) {
		head, names, ok := strings.Cut(strings.TrimSpace(line), ": ")
		number, _, _ := strings.Cut(head, " ")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue // a comment
		}
		missing[n] = false
		for name := range strings.FieldsSeq(names) {
			_, err := os.Stat("testdata/wire/" + name + ".txtar")
			if err != nil && !strings.Contains(source, "\nfunc "+name+"(") {
				t.Errorf("check %d: there is no %s", n, name)
			}
		}
	}
	for n, is := range missing {
		if is {
			t.Errorf("check %d is not in the table", n)
		}
	}
}

// TestGzip has one client that accepts gzip, and one that does not.
func TestGzip(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{})
	for n := 1; n <= 2; n++ {
		if _, err := q.Enqueue(t.Context(), queue.Task{ID: taskID(n), Agent: "http://a", Message: message(taskID(n), n, 5000)}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := api.New(api.Options{Queue: q})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	res, err := http.Post(h.URL+"/queue/next", "application/json", strings.NewReader(`{"agent_url":"http://a"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	checkTask(t, res.Body, taskID(1))

	w := httptest.NewRecorder()
	r := post("/queue/next", `{"agent_url":"http://a"}`)
	r.Header.Set("Accept-Encoding", "br;q=1.0, GZIP;q=0.5")
	s.ServeHTTP(w, r)
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	checkTask(t, z, taskID(2))
}

func checkTask(t *testing.T, from io.Reader, id string) {
	t.Helper()
	data, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	m, err := protocol.ParseTask(data)
	if err != nil || m.TaskID != id || m.Claim == nil || *m.Claim != (protocol.TaskClaim{Attempt: 1, Lease: 300}) {
		t.Errorf("got %+v, %v", m, err)
	}
}
