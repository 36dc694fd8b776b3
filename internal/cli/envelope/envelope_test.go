package envelope_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/workdir"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		stdin io.Reader
		code  string // of the problem; empty: none
		keys  int
	}{
		{"no standard input", nil, "", 0},
		{"nothing", strings.NewReader(""), "", 0},
		{"white space", strings.NewReader(" \r\n\t"), "", 0},
		{"an object", strings.NewReader(`{"a":1,"b":{}}`), "", 2},
		{"equal keys", strings.NewReader(`{"a":1,"a":2}`), "", 1},
		{"as much as there may be", strings.NewReader(`{}` + strings.Repeat(" ", envelope.MaxInput-2)), "", 0},
		{"a byte more", strings.NewReader(`{}` + strings.Repeat(" ", envelope.MaxInput-1)), envelope.CodeTooLarge, 0},
		{"without end", iotest.OneByteReader(endless{}), envelope.CodeTooLarge, 0},
		{"a broken stream", iotest.ErrReader(errors.New("closed")), envelope.CodeRead, 0},
		{"not UTF-8", strings.NewReader("{\"data\":\"\xff\"}"), handoff.CodeInvalidJSON, 0},
		{"a byte order mark", strings.NewReader("\ufeff{}"), handoff.CodeInvalidJSON, 0},
		{"two objects", strings.NewReader("{} {}"), handoff.CodeInvalidJSON, 0},
		{"a list", strings.NewReader("[]"), handoff.CodeType, 0},
		{"null", strings.NewReader("null"), handoff.CodeType, 0},
		{"a number", strings.NewReader("1e999"), handoff.CodeType, 0},
	}
	for _, tt := range tests {
		in, problem := envelope.Read(tt.stdin)
		code := ""
		if problem != nil {
			code = problem.Code
		}
		if code != tt.code || len(in) != tt.keys || problem != nil && problem.Path != envelope.Stdin {
			t.Errorf("%s: got %v, %+v, want code %q", tt.name, in, problem, tt.code)
		}
	}
}

// An endless is a reader of unlimited white space.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	p[0] = ' '
	return 1, nil
}

// FuzzResult gives any standard input to a validator: the answer is one line of JSON with
// the keys that agents rely on.
func FuzzResult(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", "{} {}", `{"data":null}`, `{"data":{"run":{"status":"failed"},"work":null}}`, `{"path":"a\u0000b"}`, `{"path":"../x"}`, `{"path":5}`, `{"path":""}`,
		`{"data":"{}","path":"x"}`, "{\"path\":\"\u2028<>&\"}", `{"path":"\ud800"}`, `{"path":"` + strings.Repeat("é", 300) + `"}`,
	} {
		f.Add([]byte(s))
	}
	dir := workdir.Dir(f.TempDir())
	f.Fuzz(func(t *testing.T, stdin []byte) {
		in, problem := envelope.Read(bytes.NewReader(stdin))
		var data []byte
		var name string
		if problem == nil {
			data, name, problem = in.Result(handoff.Inspector, dir)
		}
		var report envelope.Envelope
		if problem != nil {
			report = envelope.Of(*problem)
		} else {
			_, problems := envelope.Parse(handoff.Inspector, data, name)
			report = envelope.Of(problems...)
		}
		var out strings.Builder
		if err := envelope.Print(process.Env{Stdout: &out}, report, command.ExitOK); err != nil {
			t.Fatal(err)
		}
		line, rest, _ := strings.Cut(out.String(), "\n")
		var got struct {
			OK     *bool
			Errors []map[string]string
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil || rest != "" || got.OK == nil || got.Errors == nil || *got.OK != (len(got.Errors) == 0) {
			t.Fatalf("%q: got %s, %v", stdin, out.String(), err)
		}
		for _, e := range got.Errors {
			if len(e) != 3 || e["path"] == "" || e["code"] == "" || e["message"] == "" || len(e["path"]) > 1000 {
				t.Fatalf("%q: got the error %v", stdin, e)
			}
		}
	})
}
