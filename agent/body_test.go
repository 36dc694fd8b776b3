package agent_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/protocol"
)

func zipped(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestGzip checks that an answer is decompressed, and that the limit applies to the decompressed
// size: a megabyte of spaces fits into a kilobyte.
func TestGzip(t *testing.T) {
	t.Parallel()
	id := theTask().TaskID
	whole := zipped(t, decisionJSON(id, 100))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-6] ^= 1 // a bit of the checksum
	tests := []struct {
		name   string
		body   []byte
		max    int64
		reason agent.Reason // empty for a decision
	}{
		{"fits", whole, 0, ""},
		{"fits exactly", whole, int64(len(decisionJSON(id, 100))), ""},
		{"one byte more", whole, int64(len(decisionJSON(id, 100))) - 1, agent.ReasonTooLarge},
		{"bomb", zipped(t, strings.Repeat(" ", 8<<20)), 0, agent.ReasonTooLarge},
		{"no limit to speak of", whole, math.MaxInt64, ""},
		{"cut", whole[:len(whole)-10], 0, agent.ReasonUnreachable},
		{"wrong checksum", flipped, 0, agent.ReasonNotJSON},
		{"nothing", nil, 0, agent.ReasonNotJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer {
				return agenttest.Answer{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: tt.body}
			})
			m, err := newRemote(t, agent.RemoteOptions{URL: srv.URL, MaxBytes: tt.max}).Decide(t.Context(), theTask())
			if tt.reason != "" {
				wantError(t, err, tt.reason)
				return
			}
			if err != nil || m.Decision != protocol.Skip {
				t.Errorf("got %v, %v, want a decision", m, err)
			}
		})
	}
}

// TestValidationError checks that a caller can read the problems, and that they quote nothing of
// the task.
func TestValidationError(t *testing.T) {
	t.Parallel()
	srv := agenttest.New(t, func(task protocol.TaskMessage) agenttest.Answer {
		return agenttest.Raw(`{"task_id":"` + task.TaskID + `","decision":"hunter2","actions":[{}]}`)
	})
	r := newRemote(t, agent.RemoteOptions{URL: strings.Replace(srv.URL, "://", "://bot:hunter2@", 1)})
	_, err := r.Decide(t.Context(), theTask())
	wantError(t, err, agent.ReasonInvalid)
	v, ok := errors.AsType[*protocol.ValidationError](err)
	if !ok {
		t.Fatalf("%v wraps no *protocol.ValidationError", err)
	}
	var codes []string
	for _, p := range v.Problems {
		codes = append(codes, strings.Join(p.Path, ".")+" "+p.Code)
	}
	got, want := strings.Join(codes, ", "), "decision enum, rationale missing, actions.0.type missing"
	if got != want {
		t.Errorf("got problems %s, want %s", got, want)
	}
	wantNone(t, chain(err), "hunter2")
}

// TestHeaderBomb checks that a call ends if the answer's headers never end.
func TestHeaderBomb(t *testing.T) {
	t.Parallel()
	srv := newRawServer(t, []byte("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n"))
	_, err := newRemote(t, agent.RemoteOptions{URL: "http://" + srv.host}).Decide(t.Context(), theTask())
	wantError(t, err, agent.ReasonUnreachable)
}

// FuzzAnswer sends any status and body to a Remote. A decision must be on the task. An error must
// be short, printable and free of the sent data.
func FuzzAnswer(f *testing.F) {
	id := theTask().TaskID
	f.Add(200, []byte(decisionJSON(id, 3)))
	f.Add(200, []byte("\uFEFF"+decisionJSON(id, 3)+"\n"))
	f.Add(201, []byte(decisionJSON("other", 3)))
	f.Add(200, []byte(decisionJSON(id, 3)+"x"))
	f.Add(200, []byte(`{"task_id":"`+id+`","decision":"close","rationale":"r","actions":[{"type":"close_issue"},{"type":7},null]}`))
	f.Add(200, []byte(`{"decision":"Basic Ym90OnNlY3JldC1vZi1vdXJz","rationale":"secret-of-ours"}`))
	f.Add(202, []byte(`{"status":"accepted"}`))
	f.Add(401, []byte("bot:secret-of-ours\r\n::error::\x1b[0m"))
	f.Add(500, []byte(strings.Repeat(" ", 4090)+"secret-of-ours"))
	f.Add(500, []byte("secretsecret-of-ours-of-ours"))
	f.Add(101, []byte("x"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		r := newRemote(t, agent.RemoteOptions{
			URL:       "http://bot:secret-of-ours@agent/?key=another-secret",
			MaxBytes:  8 << 10,
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return respond(status, bytes.NewReader(body)), nil }),
		})
		m, err := r.Decide(t.Context(), theTask())
		if err == nil {
			if m.TaskID != id || m.Decision == "" || status < 200 || status > 299 || len(body) > 8<<10 {
				t.Errorf("got decision %+v from status %d and %q", m, status, body)
			}
			return
		}
		e, ok := errors.AsType[*agent.Error](err)
		if !ok || e.Reason == "" || e.Status != status || m.Decision != "" {
			t.Errorf("got %+v, %#v from status %d and %q", m, err, status, body)
		}
		text := chain(err)
		wantNone(t, text, "secret-of-ours", "another-secret", "Ym90OnNlY3JldC1vZi1vdXJz", "\x1b", "\r", "\n:")
		if len(text) > 20000 {
			t.Errorf("got an error of %d bytes", len(text))
		}
	})
}
