package dashboard

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/proposals"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A pageCase is a file of testdata/pages: the queue, and the visitor.
type pageCase struct {
	Path     string
	Operator bool // an operator views the page; false: there are no operators
	Shadow   bool
	Queue    still
	Health   []Health
	Waiting  []proposals.Waiting
	Budget   budget.Report
	GitHub   string
	Status   int
}

// TestPages shows each queue of testdata/pages, and compares the page with the golden
// file beside it.
func TestPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/pages/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			c := readCase(t, file)
			o := Options{Queue: &c.Queue, GitHub: c.GitHub, Shadow: c.Shadow}
			if c.Operator {
				o.Operators = ada
			}
			if c.Health != nil {
				o.Health = func(context.Context) []Health { return c.Health }
			}
			if c.Waiting != nil {
				o.Waiting = func(context.Context) ([]proposals.Waiting, error) { return c.Waiting, nil }
			}
			o.Budget = func() budget.Report { return c.Budget }
			r := call{path: c.Path, auth: c.Operator}.do(t, serve(t, o))
			if r.StatusCode != c.Status {
				t.Errorf("got status %d, want %d", r.StatusCode, c.Status)
			}
			golden(t, strings.TrimSuffix(file, "json")+"html", body(text(t, r)))
		})
	}
}

func readCase(t *testing.T, file string) pageCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := pageCase{Status: 200}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// body returns the page without the parts that are constant or that differ each time.
func body(page string) string {
	page = "<header>" + between(page, "<header>", "<script>")
	return regexp.MustCompile(`seen=[0-9a-f]+`).ReplaceAllString(page, "seen=VERSION")
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", file, diff)
	}
}

// TestPagesPaging follows the links of a list that is longer than a page.
func TestPagesPaging(t *testing.T) {
	t.Parallel()
	var q still
	for n := 120; n > 0; n-- {
		var task stillTask
		task.Seq, task.ID, task.Repo, task.Issue, task.State = int64(n), fmt.Sprintf("id-%d", n), "o/r", n, "pending"
		q.Tasks = append(q.Tasks, task)
	}
	d := serve(t, Options{Queue: &q})
	seen, path := 0, "/?repo=o%2Fr&state=pending"
	for pages := 0; path != ""; pages++ {
		if pages > 5 {
			t.Fatal("it does not end")
		}
		page := text(t, call{path: path}.do(t, d))
		seen += strings.Count(page, ">details</a>")
		if q.filter.Repo != "o/r" || q.filter.State != "pending" {
			t.Errorf("the filter was lost: %+v", q.filter)
		}
		path = ""
		if m := regexp.MustCompile(`<a href="([^"]*)" rel="next">`).FindStringSubmatch(page); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if seen != 120 {
		t.Errorf("got %d tasks, want 120", seen)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query  string
		status int
		says   string
	}{
		{"", 200, ""},
		{"state=pending", 200, ""},
		{"state=lost", 400, "state: want one of"},
		{"repo=o%2Fr&issue=%237", 200, `value="7"`},
		{"issue=7", 200, `value="7"`},
		{"issue=-1&since=soon", 400, "issue: want a number from 1 to 2147483647, got &#34;-1&#34;; since: want a time"},
		{"before=0", 400, "before: want a number"},
		{"before=12", 200, "Newest tasks"},
		{"agent=" + strings.Repeat("a", 3000), 400, "agent: want a text of at most 2000 bytes"},
		{"title=%22%3E%3Cscript%3E", 200, "&#34;&gt;&lt;script&gt;"},
		{"q=%22%3E%3Cscript%3E", 200, "&#34;&gt;&lt;script&gt;"},
		{"q=%e2%80%aeevil", 200, `value="evil"`},
		{"q=https://github.com/o/r/issues/7", 200, `value="o/r"`},
		{"q=https://evil.example/o/r/issues/7", 400, "the address is not on github.com"},
		{"reason=why&since=2026-05-04&until=2026-05-05", 200, `value="2026-05-05T00:00:00Z"`},
		{"since=24h", 200, `value="2026-05-03T12:00:00Z"`},
	}
	for _, tt := range tests {
		r := call{path: "/?" + tt.query}.do(t, serve(t, Options{}))
		if page := text(t, r); r.StatusCode != tt.status || !strings.Contains(page, tt.says) {
			t.Errorf("%s: got %d, want %d and %q in\n%s", tt.query, r.StatusCode, tt.status, tt.says, page)
		}
	}
}
