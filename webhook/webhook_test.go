package webhook_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/triage"
	"github.com/org/foreman-action/webhook"
)

const (
	secret = "hush"
	opened = `{"action":"opened","issue":{"number":7,"title":"T"},"repository":{"full_name":"o/r"}}`
	form   = "application/x-www-form-urlencoded"
)

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// request returns a signed delivery.
func request(event, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Github-Event": {event}, "X-Github-Delivery": {"d-1"},
		"X-Hub-Signature-256": {sign(secret, body)},
	}
	return r
}

// TestParseReal parses GitHub's own examples, as JSON and as a form.
func TestParseReal(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../testdata/events/*/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no payloads: %v", err)
	}
	for _, path := range paths {
		event := filepath.Base(filepath.Dir(path))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		asForm := request(event, "payload="+url.QueryEscape(string(data)))
		asForm.Header.Set("Content-Type", form+"; charset=utf-8")
		for kind, r := range map[string]*http.Request{"JSON": request(event, string(data)), "form": asForm} {
			got, id, err := webhook.Parse(r, secret)
			if id != "d-1" {
				t.Errorf("%s as %s: got the id %q", path, kind, id)
			}
			if eventkind.SubjectOf(event) != eventkind.Issue {
				if !errors.Is(err, triage.ErrUnsupported) {
					t.Errorf("%s as %s: got %v", path, kind, err)
				}
				continue
			}
			want, parsed := triage.ParseEvent(triage.EventSource{Name: event, Payload: data})
			if err := errors.Join(err, parsed); err != nil || got.Number == 0 {
				t.Errorf("%s as %s: got number %d, %v", path, kind, got.Number, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s as %s: got %+v, want %+v", path, kind, got.Event, want.Event)
			}
		}
	}
}

// TestParse checks what becomes of hostile deliveries. Only those that want no error return an
// event.
func TestParse(t *testing.T) {
	t.Parallel()
	sha1Only := hmac.New(sha1.New, []byte(secret))
	sha1Only.Write([]byte(opened))
	tests := []struct {
		name, event, body string
		change            func(r *http.Request) // of the signed request; nil: none
		secrets           []string              // nil: the right one
		want              string                // in the error; empty: none
	}{
		{"right", "issues", opened, nil, nil, ""},
		{"second secret", "issues", opened, nil, []string{"other", secret}, ""},
		{"no content type", "issues", opened, remove("Content-Type"), nil, ""},
		{"charset", "issues", opened, set("Content-Type", "Application/JSON; charset=UTF-8"), nil, ""},
		{"pull request", "pull_request", `{"action":"opened","pull_request":{"number":7},"repository":{"full_name":"o/r"}}`, nil, nil, ""},

		{"no secrets", "issues", opened, nil, []string{}, "the webhook has no secret"},
		{"empty secret", "issues", opened, set("X-Hub-Signature-256", sign("", opened)), []string{secret, ""}, "a secret of the webhook is empty"},

		{"no signature", "issues", opened, remove("X-Hub-Signature-256"), nil, "signature"},
		{"two signatures", "issues", opened, set("X-Hub-Signature-256", sign(secret, opened), sign("other", opened)), nil, "signature"},
		{"two in one line", "issues", opened, set("X-Hub-Signature-256", sign(secret, opened)+","+sign("other", opened)), nil, "signature"},
		{"wrong secret", "issues", opened, set("X-Hub-Signature-256", sign("other", opened)), nil, "signature"},
		{"other body", "issues", opened + " ", set("X-Hub-Signature-256", sign(secret, opened)), nil, "signature"},
		{"short signature", "issues", opened, set("X-Hub-Signature-256", sign(secret, opened)[:40]), nil, "signature"},
		{"no algorithm", "issues", opened, set("X-Hub-Signature-256", sign(secret, opened)[len("sha256="):]), nil, "signature"},
		{"SHA-1 only", "issues", opened, func(r *http.Request) {
			r.Header.Del("X-Hub-Signature-256")
			r.Header.Set("X-Hub-Signature", "sha1="+hex.EncodeToString(sha1Only.Sum(nil)))
		}, nil, "signature"},
		{"unsigned ping", "ping", `{}`, remove("X-Hub-Signature-256"), nil, "signature"},
		{"unsigned and longer than an event", "issues", strings.Repeat("[", 5<<20), set("X-Hub-Signature-256", sign("", "")), nil, "signature"},

		{"ping", "ping", `{"zen":"z"}`, nil, nil, "unsupported"},
		{"push", "push", `{}`, nil, nil, "unsupported"},
		{"event of workflows", "schedule", opened, nil, nil, "unsupported"},

		{"two events", "issues", opened, set("X-Github-Event", "issues", "ping"), nil, "X-GitHub-Event is missing"},
		{"no event", "issues", opened, remove("X-Github-Event"), nil, "X-GitHub-Event is missing"},
		{"no id", "issues", opened, remove("X-Github-Delivery"), nil, "X-GitHub-Delivery is not the id of a delivery"},
		{"hostile id", "issues", opened, set("X-Github-Delivery", "1\n::error::"), nil, "X-GitHub-Delivery is not the id of a delivery"},
		{"text", "issues", opened, set("Content-Type", "text/plain"), nil, "Content-Type"},
		{"two content types", "issues", opened, set("Content-Type", "application/json", form), nil, "Content-Type"},
		{"JSON as a form", "issues", opened, set("Content-Type", form), nil, "payload:1:1: the event payload is empty"},
		{"form as JSON", "issues", "payload=" + url.QueryEscape(opened), nil, nil, "payload:1:"},
		{"invalid form", "issues", "payload=%zz", set("Content-Type", form), nil, "payload:1:1: the event payload is empty"},
		{"no body", "issues", "", func(r *http.Request) { r.Body = nil }, nil, "payload:1:1: the event payload is empty"},
		{"half of the JSON", "issues", opened[:40], nil, nil, "payload:1:"},
		{"no issue", "issues", `{"repository":{"full_name":"o/r"}}`, nil, nil, "the issues event contains no issue"},
		{"an event of 5 MB", "issues", `{"x":[` + strings.Repeat("1,", 5<<19) + `1]}`, nil, nil, fmt.Sprint("too long: ", 4<<20)},
		{"a form of 5 MB", "issues", "payload=" + strings.Repeat("1", 5<<20), set("Content-Type", form), nil, fmt.Sprint("too long: ", 4<<20)},
		{"interrupted", "issues", opened, func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(opened[:9]), iotest.ErrReader(io.ErrUnexpectedEOF)))
		}, nil, "read a delivery: unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, secrets := request(tt.event, tt.body), tt.secrets
			if tt.change != nil {
				tt.change(r)
			}
			if secrets == nil {
				secrets = []string{secret}
			}
			d, _, err := webhook.Parse(r, secrets...)
			if got := outcome(err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if (err == nil) != (d.Number == 7) {
				t.Errorf("got the issue %d, %v", d.Number, err)
			}
		})
	}
}

func set(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func remove(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }

// outcome returns the kind of an error, or its text.
func outcome(err error) string {
	long, tooLong := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, webhook.ErrSignature):
		return "signature"
	case errors.Is(err, triage.ErrUnsupported):
		return "unsupported"
	case tooLong:
		return fmt.Sprint("too long: ", long.Limit)
	}
	return err.Error()
}

// counter counts the bytes that are read of an endless body.
type counter struct{ read int64 }

func (c *counter) Read(p []byte) (int, error) {
	c.read += int64(len(p))
	return len(p), nil
}

// TestParse30MB checks that of 30 MB at most 25 are read, and none of an announced length.
func TestParse30MB(t *testing.T) {
	t.Parallel()
	const size = 30 << 20
	for name, tt := range map[string]struct{ announced, most int64 }{
		"announced": {size, 0}, "of unknown length": {-1, webhook.MaxBody + 64<<10},
	} {
		var c counter
		r := request("issues", "")
		r.Body, r.ContentLength = io.NopCloser(io.LimitReader(&c, size)), tt.announced
		_, _, err := webhook.Parse(r, secret)
		if got, want := outcome(err), fmt.Sprint("too long: ", webhook.MaxBody); got != want || c.read > tt.most {
			t.Errorf("%s: got %q after %d bytes, want %q", name, got, c.read, want)
		}
	}
}

// TestParseLongText checks that a signed body of almost 25 MB is parsed, with its text truncated.
func TestParseLongText(t *testing.T) {
	t.Parallel()
	body := `{"action":"opened","repository":{"full_name":"o/r"},"issue":{"number":7,"body":"` + strings.Repeat("x", 24<<20) + `"}}`
	d, _, err := webhook.Parse(request("issues", body), secret)
	if err != nil || d.Number != 7 || len(d.Issue.Body) != 512<<10 {
		t.Fatalf("got %d, %v", d.Number, err)
	}
}

// TestIncoming checks that an event is parsed only after its whole body was written.
func TestIncoming(t *testing.T) {
	t.Parallel()
	in, err := webhook.ParseHeader(request("issues", opened).Header, secret)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{webhook.ErrSignature, webhook.ErrSignature, nil} {
		if _, err := in.Decode(strings.NewReader(opened)); !errors.Is(err, want) || !errors.Is(in.Verify(), want) {
			t.Errorf("after %d parts: got %v, want %v", i, err, want)
		}
		if i < 2 {
			fmt.Fprint(in, opened[i*20:i*20+20+i*(len(opened)-40)])
		}
	}
	again, err := webhook.ParseHeader(request("issue_comment", opened).Header, secret)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(again, opened)
	if in.Key() == again.Key() {
		t.Error("two events with the same body have one key")
	}
}

// FuzzParse checks that exactly the signed deliveries are read, and that an event has an issue and
// a repository.
func FuzzParse(f *testing.F) {
	f.Add("issues", "d-1", "application/json", "", opened)
	f.Add("issue_comment", "2", form, "sha256=00", "payload=%7B%22action%22%3A%22created%22%7D")
	f.Add("ping", "3", "application/json", "sha1=00", `{"zen":"x"}`)
	f.Add("pull_request", "4", "", "sha256=", `{"pull_request":[],"repository":{"full_name":"../.."}}`)
	f.Fuzz(func(t *testing.T, event, id, kind, signature, body string) {
		for _, s := range []string{sign(secret, body), signature} {
			r := request(event, body)
			set("X-Github-Delivery", id)(r)
			set("Content-Type", kind)(r)
			set("X-Hub-Signature-256", s)(r)
			d, got, err := webhook.Parse(r, secret)
			signed := strings.EqualFold(s, sign(secret, body))
			switch {
			case signed && errors.Is(err, webhook.ErrSignature):
				t.Errorf("signed, got %v", err)
			case !signed && (err == nil || errors.Is(err, triage.ErrUnsupported)):
				t.Errorf("not signed, got %v", err)
			case err == nil && (got != id || d.Name != event || d.Issue == nil || d.Number < 1 || d.Repo.Owner == ""):
				t.Errorf("got %q, %+v", got, d)
			}
		}
	})
}
