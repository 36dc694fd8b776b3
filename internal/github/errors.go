package github

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/triage"
)

// The permissions that calls need, as a workflow writes them.
const (
	needIssuesRead   = "issues: read"
	needPullsRead    = "pull-requests: read"
	needIssuesWrite  = "issues: write"
	needContentsRead = "contents: read"
)

// An op says what a call is about, for its errors.
type op struct {
	what   string     // "add labels to"
	ref    triage.Ref // the issue, or with wide the repository
	wide   bool       // the call is about the repository; ref.Number does not count
	need   string     // the permission that it takes
	absent error      // what 404 and 410 mean: triage.ErrGone or triage.ErrNotFound
	pages  int        // of a list, if more than maxPages
}

// String returns what is being done, such as "add labels to o/r#7".
func (o op) String() string {
	if o.wide {
		return fmt.Sprintf("%s %s/%s", o.what, o.ref.Owner, o.ref.Repo)
	}
	return o.what + " " + o.ref.String()
}

// onIssue is an op on the issue itself: what is not there is gone.
func onIssue(what string, ref triage.Ref) op {
	return op{what: what, ref: ref, need: needIssuesWrite, absent: triage.ErrGone}
}

// lookUp is an op that reads something other than the issue.
func lookUp(what string, ref triage.Ref) op {
	return op{what: what, ref: ref, need: needIssuesRead, absent: triage.ErrNotFound}
}

// cause turns what the transport saw of a failed call, or else what go-github
// returned, into the error that the contract of runner.Issues asks for.
func (o op) cause(ex *exchange, err error) error {
	switch {
	case ex.err != nil:
		// go-github replaces the transport's error by the context's when both are there.
		if _, unsent := errors.AsType[*unsentError](ex.err); ex.write && !unsent {
			return fmt.Errorf("%w: %w", triage.ErrUncertain, ex.err)
		}
		return ex.err
	case ex.answer != nil:
		return o.judge(ex.answer, ex.write)
	case ex.write && ex.answered:
		return fmt.Errorf("%w: the answer is unreadable: %w", triage.ErrUncertain, err)
	default:
		return err
	}
}

func (o op) judge(a *answerError, write bool) error {
	switch {
	case a.status >= 500 && write:
		return fmt.Errorf("%w: %w", triage.ErrUncertain, a)
	case a.redirect():
		// A redirect means a moved repository or a transferred issue, of which the
		// token of this repository says nothing.
		return fmt.Errorf("%w: %w", o.absent, a)
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		return fmt.Errorf("%w: %w", o.absent, a)
	case a.status == http.StatusForbidden && a.permission():
		return &triage.PermissionError{Need: o.need, Err: a}
	}
	return a
}

// A LimitError says that GitHub refuses calls for longer than one call may wait.
// What was tried was certainly not carried out.
type LimitError struct {
	Wait time.Duration // how long GitHub asks to wait from now
	Left time.Duration // how long the call could still have waited
	Err  error         // GitHub's answer
}

// Error says how long GitHub asks to wait.
func (e *LimitError) Error() string {
	return fmt.Sprintf("rate limited: GitHub asks to wait %s, this call may wait %s more: %v",
		e.Wait.Round(time.Second), max(e.Left, 0).Round(time.Second), e.Err)
}

// Unwrap returns GitHub's answer.
func (e *LimitError) Unwrap() error { return e.Err }

// An unsentError is a failure of a request that GitHub certainly did not carry out.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// minSecret is the length from which on a token is looked for in foreign text:
// hiding a few letters would mutilate ordinary words.
const minSecret = 8

// hide takes a token out of text that a server, a proxy or a transport made.
func hide(text, token string) string {
	if len(token) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, token, "***")
}

// redact hides the token in what an error says.
func redact(err error, token string) error {
	if text := hide(err.Error(), token); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// A redactedError is an error with a secret taken out of its text.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// plain reports whether a name has only the letters that GitHub allows in owners and
// repositories. A regular expression would cost every start more than all the calls.
func plain(name string) bool {
	const others = "-._"
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return strings.Trim(name, ".") != "" && len(name) <= 100
}

// checkRef refuses what would change the path of a request.
func checkRef(ref triage.Ref, wide bool) error {
	for _, part := range []struct{ field, value string }{{"owner", ref.Owner}, {"repository", ref.Repo}} {
		if !plain(part.value) {
			return fmt.Errorf("%s %q: want letters, digits, '.', '_' and '-'", part.field, clip(part.value, 100))
		}
	}
	if !wide && ref.Number < 1 {
		return fmt.Errorf("issue number %d: want 1 or more", ref.Number)
	}
	return nil
}
