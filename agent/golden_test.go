package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/agent"
)

// TestAnswers sends the task once for each file of testdata/answers, and answers with the raw
// HTTP of the file. It compares the result. A file may have these parts:
//
//	options   lines "userinfo", "path", "authorization" or "max": options of the request
//	response  status line, headers, empty line, body; sent as it is, then the connection is closed
//	want      the decision, or reason, status and text of the error
//
// In every part TASK stands for the task's id and AGENT for the server's address.
func TestAnswers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("got %d files, err %v; want 30 or more", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome(t, part(ar, "options"), part(ar, "response"))
			if *update {
				setPart(ar, "want", got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(part(ar, "want"), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// outcome sends a task to a server that answers with response, and returns the result as text.
func outcome(t *testing.T, options, response string) string {
	t.Helper()
	head, body, ok := strings.Cut(response, "\n\n")
	if !ok {
		t.Fatal("the response has no empty line")
	}
	raw := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
	srv := newRawServer(t, []byte(strings.ReplaceAll(raw, "TASK", theTask().TaskID)))
	remote := newRemote(t, parseOptions(t, options, srv.host))
	m, err := remote.Decide(t.Context(), theTask())
	got := fmt.Sprintf("error: %v\n", err)
	if e, ok := errors.AsType[*agent.Error](err); ok {
		got = fmt.Sprintf("reason: %s\nstatus: %d\n%s", e.Reason, e.Status, got)
	} else if err == nil {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got = string(data) + "\n"
	}
	return strings.NewReplacer(theTask().TaskID, "TASK", srv.host, "AGENT").Replace(got)
}

func parseOptions(t *testing.T, text, host string) agent.RemoteOptions {
	t.Helper()
	var o agent.RemoteOptions
	var userinfo, path string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "userinfo":
			userinfo = value + "@"
		case "path":
			path = value
		case "authorization":
			o.Authorize = func(context.Context) (string, error) { return value, nil }
		case "max":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			o.MaxBytes = n
		default:
			t.Fatalf("unknown option %q", key)
		}
	}
	o.URL = "http://" + userinfo + host + path
	return o
}

func part(ar *txtar.Archive, name string) string {
	for _, f := range ar.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setPart(ar *txtar.Archive, name, data string) {
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			ar.Files[i].Data = []byte(data)
			return
		}
	}
	ar.Files = append(ar.Files, txtar.File{Name: name, Data: bytes.Clone([]byte(data))})
}
