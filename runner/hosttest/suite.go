package hosttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Test runs the tests that every [runner.Host] must pass, each as a parallel subtest. start returns a
// host with the repository r: its own account is host.Login, and may do everything in r. start is
// called once per subtest. It calls t.Skip if it cannot create r, such as one with 2,300 comments or
// with LoseAnswers. It need not for Intents: a host may ignore them.
//
// A test is skipped if the host lacks the interface that it is about, or if a method returns an error
// that matches [errors.ErrUnsupported], as those of package unimplemented do. A test of several effects
// leaves out those that the host does not support, and is skipped if it supports none of them.
func Test(t *testing.T, start func(t *testing.T, r Repo) runner.Host) {
	t.Helper()
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			problems, skip := p.verify(t, start(t, p.repo()))
			if skip != "" {
				t.Skip(skip)
			}
			for _, problem := range problems {
				t.Error(problem)
			}
		})
	}
}

// A promise is a part of the contract of a host, with the repository on which it is checked.
type promise struct {
	name  string
	needs part
	repo  func() Repo
	check func(*check)
}

// A part is one of the interfaces of a host.
type part string

const (
	issues     part = "Issues"
	repository part = "Repository"
	search     part = "Search"
)

// verify checks a promise. It returns the differences from the contract, or why it was not checked.
func (p promise) verify(t test, h runner.Host) (problems []string, skip string) {
	present := map[part]bool{issues: h.Issues != nil, repository: h.Repository != nil, search: h.Search != nil}
	if !present[issues] || !present[p.needs] {
		return nil, fmt.Sprintf("the host has no %s", p.needs)
	}
	c := &check{Host: h, test: t}
	if c.Login == "" {
		c.Login = runner.DefaultBot
	}
	p.check(c)
	return c.problems, c.skip
}

// A test has the context of a check, such as a testing.T.
type test interface{ Context() context.Context }

// A check is the check of one promise.
type check struct {
	runner.Host
	test

	problems []string
	skip     string
}

// errorf reports a difference from the contract.
func (c *check) errorf(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// ok reports an unexpected error of a call, and returns whether there was none.
func (c *check) ok(call string, err error) bool {
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		c.skip = err.Error()
	case err != nil:
		c.errorf("%s: got the error %v", call, err)
	}
	return err == nil
}

// wantError reports an error that does not match the wanted one, or matches one that it must not.
func (c *check) wantError(call string, err, want error, not ...error) {
	if errors.Is(err, errors.ErrUnsupported) {
		c.skip = err.Error()
		return
	}
	if !errors.Is(err, want) {
		c.errorf("%s: got the error %v, want one that matches %q", call, err, want)
	}
	for _, wrong := range not {
		if errors.Is(err, wrong) {
			c.errorf("%s: the error %v also matches %q", call, err, wrong)
		}
	}
}

// each calls do with each element of a list. It leaves out the elements for which the host returns
// errors.ErrUnsupported. The test is skipped only if these are all.
func each[T any](c *check, list []T, do func(T)) {
	skip, checked := "", false
	for _, one := range list {
		c.skip = ""
		do(one)
		skip, checked = cmp.Or(skip, c.skip), checked || c.skip == ""
	}
	if c.skip = ""; !checked {
		c.skip = skip
	}
}

// issue returns an issue; the zero value after an error.
func (c *check) issue(number int) triage.Issue {
	s, err := c.Issues.Issue(c.Context(), at(number))
	c.ok(fmt.Sprintf("Issue %d", number), err)
	return s.Issue
}

// same reports the fields of an issue that differ from the wanted ones, and returns whether there are none.
func (c *check) same(when string, got, want triage.Issue) bool {
	var list []string
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for k := range g.NumField() {
		if a, b := field(g.Field(k)), field(w.Field(k)); a != b {
			list = append(list, fmt.Sprintf("%s is %s, want %s", g.Type().Field(k).Name, a, b))
		}
	}
	if len(list) > 0 {
		c.errorf("%s: %s", when, strings.Join(list, "; "))
	}
	return len(list) == 0
}

// field formats a field of an issue. A nil list is an empty one, and times are compared in UTC.
func field(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case string, []string:
		return fmt.Sprintf("%q", x)
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprintf("%+v", x)
	}
}

const (
	owner = "octo-org"
	name  = "hello"
)

// at returns a reference to an issue of the repository.
func at(number int) triage.Ref { return triage.Ref{Owner: owner, Repo: name, Number: number} }

// promises returns all tests of the suite.
func promises() []promise {
	return slices.Concat(issuePromises(), writePromises(), intentPromises(), guardPromises(), repositoryPromises(), searchPromises())
}
