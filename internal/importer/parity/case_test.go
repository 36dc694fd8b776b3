package parity_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
)

// A parityCase is one configuration with its events, and the recorded results of the original
// action.
type parityCase struct {
	tool, name string
	path       string
	header     map[string]string // Source, Licence, Version, Events
	ar         *txtar.Archive
	source     othertools.Source // the tool's configuration; for stale the workflow
	workflow   othertools.Source
	events     []event
	want       map[string]outcome // results of the original, by the event's id
	calls      map[string]int     // calls of the original, for each event that started it
	leftOut    []string           // events that the conditions of the workflow excluded in the last play
	known      []difference
	more       []costlierEvent
}

// A difference explains why Foreman's result differs from the original's on some events.
type difference struct {
	Events []string `json:"events"`
	// Reported is a part of the import's report, or of the notes in the imported file, that names
	// the difference. It is empty when neither does.
	Reported string `json:"reported,omitempty"`
	Reason   string `json:"reason"`
}

// cases reads all cases of a tool.
func cases(t *testing.T, tool string) []*parityCase {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "cases", tool, "*.txtar"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("%s: got %d cases, %v, want at least 10", tool, len(paths), err)
	}
	var list []*parityCase
	for _, path := range paths {
		list = append(list, readCase(t, tool, path))
	}
	return list
}

func readCase(t *testing.T, tool, path string) *parityCase {
	t.Helper()
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &parityCase{tool: tool, name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, ar: ar, header: map[string]string{}, want: map[string]outcome{}}
	for line := range strings.Lines(string(ar.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		c.header[key] = value
	}
	for _, f := range ar.Files {
		switch {
		case strings.HasPrefix(f.Name, ".github/workflows/") && c.workflow.Name == "" && (c.source.Name != "" || importer.InWorkflow(tool)):
			c.workflow = othertools.Source{Name: f.Name, Data: f.Data}
		case strings.HasPrefix(f.Name, ".github/"):
			c.source = othertools.Source{Name: f.Name, Data: f.Data}
		case f.Name == "events":
			c.events = decodeLines[event](t, c, f)
		case f.Name == "want":
			for _, o := range decodeLines[outcome](t, c, f) {
				c.want[o.ID] = o
			}
		case f.Name == "calls":
			for _, calls := range decodeLines[map[string]int](t, c, f) {
				c.calls = calls
			}
		case f.Name == "more":
			c.more = decodeLines[costlierEvent](t, c, f)
		case f.Name == "differences":
			c.known = decodeLines[difference](t, c, f)
		default:
			t.Fatalf("%s: unknown part %s", path, f.Name)
		}
	}
	if importer.InWorkflow(tool) {
		c.source = c.workflow
	}
	return c
}

func decodeLines[T any](t *testing.T, c *parityCase, f txtar.File) []T {
	t.Helper()
	var list []T
	dec := json.NewDecoder(bytes.NewReader(f.Data))
	dec.DisallowUnknownFields()
	for dec.More() {
		var v T
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%s: %s: %v", c.path, f.Name, err)
		}
		list = append(list, v)
	}
	return list
}

// set replaces a part of the file by one line for each value, and writes the file.
func set[T any](t *testing.T, c *parityCase, name string, list []T) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	i := slices.IndexFunc(c.ar.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		i = len(c.ar.Files)
		c.ar.Files = append(c.ar.Files, txtar.File{Name: name})
	}
	c.ar.Files[i].Data = b.Bytes()
	if err := os.WriteFile(c.path, txtar.Format(c.ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dropLeftOut removes the events that the workflow's conditions excluded from the recorded calls.
// The original made no calls for them.
func (c *parityCase) dropLeftOut(t *testing.T) {
	t.Helper()
	for _, id := range c.leftOut {
		if c.calls[id] != 0 {
			t.Errorf("%s: the workflow excludes the event, but %d calls of the original are recorded", id, c.calls[id])
		}
		delete(c.calls, id)
	}
}

// size returns how many events the case has at least: the number in its header, or otherwise.
func (c *parityCase) size(otherwise int) int {
	if n, err := strconv.Atoi(c.header["Events"]); err == nil {
		return n
	}
	return otherwise
}

// repo returns the name of the case's repository, which conditions of workflows use.
func (c *parityCase) repo() string {
	repo, _, _ := strings.Cut(c.header["Source"], " ")
	return repo
}
