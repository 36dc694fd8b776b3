package results_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// FuzzUnpack opens any bytes as a zip. There must be no panic, and every error is memory.ErrBroken.
// The result is within its bounds and stays the same when it is packed and unpacked again.
func FuzzUnpack(f *testing.F) {
	list, err := filepath.Glob("testdata/zip/*.txtar")
	if err != nil || len(list) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, file := range list {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		files := map[string]string{}
		for _, part := range ar.Files {
			files[part.Name] = string(part.Data)
		}
		m := maker{t: f, files: files, a: resultstest.Artifact{}}
		for line := range strings.Lines(files["make"]) {
			m.do(strings.Fields(line))
		}
		m.finish()
		if len(m.a.Zip) < 64<<10 {
			f.Add(m.a.Zip)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := results.Unpack(data)
		if err != nil {
			if !errors.Is(err, memory.ErrBroken) {
				t.Fatalf("got %v, want ErrBroken", err)
			}
			return
		}
		if len(out) > memory.MaxSize {
			t.Fatalf("got %d bytes", len(out))
		}
		again, err := results.Pack(out)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := results.Unpack(again); err != nil || !bytes.Equal(back, out) {
			t.Fatalf("second round: got %q and %v, want %q", back, err, out)
		}
	})
}

// FuzzClaims reads any text as a runtime token. There must be no panic, and the ids contain no
// special characters.
func FuzzClaims(f *testing.F) {
	for _, s := range []string{
		`{"scp":"Actions.Results:1:2"}`, `{"scp":"Actions.Results:1:2:3"}`, `{"scp":"Actions.Results:a b:c"}`, `{"scp":1}`, `{`, ``,
		"{\"scp\":\"x\u2003Actions.Results:1:2\"}",
	} {
		f.Add("e30", s, "c2ln")
	}
	f.Fuzz(func(t *testing.T, head, payload, tail string) {
		for _, token := range []string{head + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + "." + tail, payload} {
			got, err := results.Claims(token)
			if err != nil {
				continue
			}
			for _, id := range []string{got.Run(), got.Job()} {
				if id == "" || len(id) > 128 || strings.ContainsAny(id, "/:. \n\"") {
					t.Fatalf("got the id %q", id)
				}
			}
		}
	})
}

// FuzzParseClosing parses any name: each accepted name must be one that closingName returns.
func FuzzParseClosing(f *testing.F) {
	for _, name := range []string{"foreman-closing-i7-none", "foreman-closing-i7-20260501T083000Z", "foreman-closing-i007-none", "foreman-closing-i7-00010101T000000Z"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		issue, due, ok := results.ParseClosing(name)
		if ok && (issue < 1 || results.ClosingName(issue, due) != name) {
			t.Errorf("%q: got %d, %v", name, issue, due)
		}
	})
}
