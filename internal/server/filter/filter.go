// Package filter is the text form of a queue.Filter: the query of a page's address and of the API,
// the flags of commands, and the search box of the dashboard.
//
// The keys are:
//
//	state          pending, claimed, completed, done or failed
//	agent          address of the agent
//	repo           owner/name
//	issue          number
//	id             id of the task, or of its webhook's delivery
//	title          words that are all in the title of the issue
//	reason         a part of the reason
//	since, until   when the task was enqueued: an RFC 3339 time, a date, a date and a time in UTC, or how
//	               long ago, such as 24h or 7d
//	before, limit  the page: tasks before that number, and how many
//	q              what a person typed: an issue's address, owner/name#7, owner/name, an id, or words
package filter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A Parser parses filters. It is safe for concurrent use.
type Parser struct {
	// GitHub is the address of GitHub's web pages, whose issues q may name. Those of https://github.com
	// are always understood.
	GitHub string
	// Now is the clock that durations in since and until count back from; required if there are any.
	Now func() time.Time
	// Name returns the name of a key in error messages, such as its flag. Nil: the key.
	Name func(key string) string
}

// Keys returns the keys of a filter, sorted.
func Keys() []string {
	return []string{"agent", "before", "id", "issue", "limit", "q", "reason", "repo", "since", "state", "title", "until"}
}

// Parse parses a filter, such as that of a form: empty values are as if they were missing. The error names
// all mistakes, each on its own line. Unknown keys are ignored: a caller that changes tasks calls ParseAll.
func (p Parser) Parse(v url.Values) (queue.Filter, error) {
	b := parsing{Parser: p, values: v}
	b.texts()
	b.numbers()
	b.times()
	b.box(strings.TrimSpace(v.Get("q")))
	if len(b.mistakes) > 0 {
		return queue.Filter{}, errors.Join(b.mistakes...)
	}
	return b.f, nil
}

// ParseAll is Parse, and refuses unknown keys and empty values. A misspelt key, or the value of a variable
// that is not set, would match more tasks than its author wanted.
func (p Parser) ParseAll(v url.Values) (queue.Filter, error) {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(Keys(), key) {
			return queue.Filter{}, fmt.Errorf("unknown key %q; want one of %s", text.Quote(key), strings.Join(Keys(), ", "))
		}
		if slices.ContainsFunc(v[key], blank) {
			return queue.Filter{}, fmt.Errorf("%s: want a value, got an empty one; leave it out to match all tasks", parsing{Parser: p}.name(key))
		}
	}
	return p.Parse(v)
}

// WithoutEmpty removes the keys whose values are all empty, as a form sends them.
func WithoutEmpty(v url.Values) {
	maps.DeleteFunc(v, func(_ string, values []string) bool {
		return !slices.ContainsFunc(values, func(s string) bool { return !blank(s) })
	})
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Values returns the keys of a filter, so that Parse returns the same filter again. It leaves out
// Examine.
func Values(f queue.Filter) url.Values {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	number := func(key string, n int64) {
		if n > 0 {
			v.Set(key, strconv.FormatInt(n, 10))
		}
	}
	at := func(key string, t time.Time) {
		if !t.IsZero() {
			v.Set(key, t.UTC().Format(layout))
		}
	}
	set("state", string(f.State))
	set("agent", f.Agent)
	set("repo", f.Repo)
	number("issue", int64(f.Issue))
	set("id", f.ID)
	set("title", f.Title)
	set("reason", f.Reason)
	at("since", f.From)
	at("until", f.To)
	number("before", f.Before)
	number("limit", int64(f.Limit))
	return v
}

// layout is RFC 3339 with at most milliseconds.
const layout = "2006-01-02T15:04:05.999Z07:00"

// parsing is the state of a call of Parse.
type parsing struct {
	Parser

	values   url.Values
	f        queue.Filter
	mistakes []error
}

// wrong adds a mistake.
func (b *parsing) wrong(key, format string, args ...any) {
	if b.Name != nil {
		key = b.Name(key)
	}
	b.mistakes = append(b.mistakes, fmt.Errorf("%s: %w", key, fmt.Errorf(format, args...)))
}

// get returns the only value of a key, without white space around it.
func (b *parsing) get(key string) string {
	if len(b.values[key]) > 1 {
		b.wrong(key, "want it once, got it %d times", len(b.values[key]))
	}
	s := strings.TrimSpace(b.values.Get(key))
	if !queue.IsText(s) {
		b.wrong(key, "want a text of at most %d bytes", queue.MaxText)
		return ""
	}
	return s
}

func (b *parsing) texts() {
	b.f.State = queue.State(b.get("state"))
	if b.f.State != "" && !slices.Contains(queue.States(), b.f.State) {
		b.wrong("state", "want one of pending, claimed, completed, done and failed, got %q", text.Quote(string(b.f.State)))
	}
	b.f.Agent = b.get("agent")
	if a, err := address.Canonical(b.f.Agent); err == nil {
		b.f.Agent = a
	}
	b.f.Repo = b.get("repo")
	if owner, name, _ := strings.Cut(b.f.Repo, "/"); b.f.Repo != "" && (owner == "" || name == "" || strings.Contains(name, "/")) {
		b.wrong("repo", "want owner/name, got %q", text.Quote(b.f.Repo))
	}
	b.f.ID, b.f.Title, b.f.Reason = b.get("id"), strings.Join(strings.Fields(b.get("title")), " "), b.get("reason")
}

func (b *parsing) numbers() {
	number := func(key, s string, most int64) int64 {
		if s == "" {
			return 0
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 || n > most {
			b.wrong(key, "want a number from 1 to %d, got %q", most, text.Quote(s))
			return 0
		}
		return n
	}
	b.f.Issue = int(number("issue", strings.TrimPrefix(b.get("issue"), "#"), 1<<31-1))
	b.f.Before = number("before", b.get("before"), 1<<62)
	b.f.Limit = int(number("limit", b.get("limit"), 1000))
}

func (b *parsing) times() {
	b.f.From, b.f.To = b.time("since"), b.time("until")
	if !b.f.From.IsZero() && !b.f.To.IsZero() && !b.f.From.Before(b.f.To) {
		b.wrong("until", "want a time after since")
	}
}

// time parses a time, or how long ago it is.
func (b *parsing) time(key string) time.Time {
	s := b.get(key)
	if s == "" {
		return time.Time{}
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			return inYears(t.UTC().Truncate(time.Millisecond))
		}
	}
	if d, err := duration.Parse(s); err == nil && d >= 0 && b.Now != nil {
		return inYears(b.Now().UTC().Add(-d).Truncate(time.Millisecond))
	}
	b.wrong(key, "want a time such as 2026-11-28, 2026-11-28T09:30:00Z, or 24h for a day ago, got %q", text.Quote(s))
	return time.Time{}
}

// inYears returns a time whose year in UTC has four digits. A zone can move a time out of them.
func inYears(t time.Time) time.Time {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if t.Before(first) {
		return first
	}
	if t.After(last) {
		return last
	}
	return t
}

var (
	uuid      = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	issueName = regexp.MustCompile(`^([\w.-]+/[\w.-]+)?#([0-9]{1,9})$`)
)

// box sets the fields that the text of the search box means.
func (b *parsing) box(q string) {
	if q == "" {
		return
	}
	if !queue.IsText(q) {
		b.wrong("q", "want a text of at most %d bytes", queue.MaxText)
		return
	}
	if uuid.MatchString(q) {
		setText(b, "id", &b.f.ID, strings.ToLower(q))
		return
	}
	if m := issueName.FindStringSubmatch(q); m != nil {
		b.issue(m[1], m[2])
		return
	}
	if path, ok := b.onGitHub(q); ok {
		parts := append(strings.Split(path, "/"), "", "", "")
		switch {
		case parts[1] == "":
			b.wrong("q", "the address is not that of an issue or of a repository")
		case slices.Contains([]string{"issues", "pull", "pulls"}, parts[2]):
			b.issue(parts[0]+"/"+parts[1], parts[3])
		default:
			b.issue(parts[0]+"/"+parts[1], "")
		}
		return
	}
	if strings.Contains(q, "://") {
		b.wrong("q", "the address is not on %s; for an agent use %s", strings.Join(b.hosts(), " or "), b.name("agent"))
		return
	}
	if _, _, ok := protocol.SplitRepo(q); ok {
		b.issue(q, "")
		return
	}
	b.f.Title = strings.TrimSpace(b.f.Title + " " + strings.Join(strings.Fields(q), " "))
	if !queue.IsText(b.f.Title) {
		b.wrong("q", "want a text of at most %d bytes", queue.MaxText)
	}
}

func (b parsing) name(key string) string {
	if b.Name != nil {
		return b.Name(key)
	}
	return key
}

// issue sets the repository and the issue that q names. An empty text sets nothing.
func (b *parsing) issue(repo, number string) {
	if repo != "" {
		if _, _, ok := protocol.SplitRepo(repo); !ok {
			b.wrong("q", "want owner/name, got %q", text.Quote(repo))
			return
		}
		setText(b, "repo", &b.f.Repo, repo)
	}
	if number == "" {
		return
	}
	n, err := strconv.ParseInt(number, 10, 32)
	switch {
	case err != nil || n < 1:
		b.wrong("q", "want the number of an issue, got %q", text.Quote(number))
	case b.f.Issue != 0 && b.f.Issue != int(n):
		b.wrong("q", "names another issue than %s", b.name("issue"))
	default:
		b.f.Issue = int(n)
	}
}

// setText sets a field that q names, unless the key of the field has another value.
func setText(b *parsing, key string, field *string, value string) {
	if *field != "" && !strings.EqualFold(*field, value) {
		b.wrong("q", "names another one than %s", b.name(key))
		return
	}
	*field = cmp.Or(*field, value)
}

// hosts returns the hosts of GitHub's pages.
func (b *parsing) hosts() []string {
	hosts := []string{"github.com"}
	if u, err := url.Parse(b.GitHub); err == nil && u.Host != "" && !strings.EqualFold(u.Host, hosts[0]) {
		hosts = append(hosts, strings.ToLower(u.Host))
	}
	return hosts
}

// onGitHub returns the path of an address on GitHub, which may lack its scheme.
func (b *parsing) onGitHub(q string) (path string, ok bool) {
	if !strings.Contains(q, "://") {
		q = "https://" + q
	}
	u, err := url.Parse(q)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || !slices.Contains(b.hosts(), strings.ToLower(strings.TrimPrefix(u.Host, "www."))) {
		return "", false
	}
	return strings.Trim(u.Path, "/"), true
}
