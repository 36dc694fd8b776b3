package config

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// filesOf serves the files of an archive whose names begin with "repo/".
type filesOf struct{ a *golden.Case }

func (f filesOf) Read(_ context.Context, name string) ([]byte, error) {
	if name == ".github/unreadable.yml" {
		return nil, errors.New("the disk is on fire")
	}
	data := f.a.Get("repo/" + name)
	if data == nil {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (f filesOf) Glob(_ context.Context, pattern string) ([]string, error) {
	var names []string
	for _, part := range f.a.Names() {
		name := strings.TrimPrefix(part, "repo/")
		if ok, err := path.Match(pattern, name); err == nil && ok && name != part {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// TestLoad loads the files of every case in testdata/load. The part "spec" may contain the words
// path=, optional, rules=, partial and tokenless. Parts that begin with "remote/" are files of
// other repositories.
func TestLoad(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/load", *update, func(t *testing.T, a *golden.Case) {
		spec := Spec{Path: DefaultPath, Getenv: func(name string) string {
			return map[string]string{"HOST": "agent.example.org", "MODEL": "m-1"}[name]
		}, Remote: func(_ context.Context, file RemoteFile) ([]byte, error) {
			if file.Ref == "unreachable" {
				return nil, errors.New("the line is dead")
			}
			if data := a.Get("remote/" + file.String()); data != nil {
				return data, nil
			}
			return nil, fs.ErrNotExist
		}}
		for word := range strings.FieldsSeq(string(a.Get("spec"))) {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "path":
				spec.Path = value
			case "optional":
				spec.Optional = true
			case "rules":
				spec.Rules = append(spec.Rules, value)
			case "partial":
				spec.Partial = true
			case "tokenless":
				spec.Remote = nil
			}
		}
		c, err := Load(t.Context(), filesOf{a}, spec)
		switch {
		case err != nil:
			a.Want(t, "want", fmt.Sprintf("error: %v\nno such file: %t\n", err, errors.Is(err, ErrNotFound)))
		case c == nil:
			a.Want(t, "want", "nothing\n")
		default:
			a.Want(t, "want", showConfig(c))
		}
	})
}

func showConfig(c *Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "files %v\nmode %q\n", c.Files, c.Mode)
	p := c.Policy
	fmt.Fprintf(&b, "policy close=%t actions=%q limits=%v allow=%#v deny=%q create=%t reject=%t length=%d mentions=%q links=%#v\n",
		p.AllowClose, p.Actions, p.Limits, p.Labels.Allow, p.Labels.Deny, p.CreateLabels, p.RejectUnknown, p.CommentLength, p.Mentions, p.Links)
	if p.AgentMay != nil || p.Labels.Within != nil || c.NeverClose {
		fmt.Fprintf(&b, "may=%#v within=%#v never close=%t\n", p.AgentMay, p.Labels.Within, c.NeverClose)
	}
	if p.CommentInterval != 0 || p.MaxComments != 0 || p.MaxWrites != 0 {
		fmt.Fprintf(&b, "interval=%s comments=%d writes=%d\n", p.CommentInterval, p.MaxComments, p.MaxWrites)
	}
	if p.Automation != "" || p.Approve != nil || p.Suggestions != "" || p.SuggestionTTL != 0 {
		fmt.Fprintf(&b, "automation=%q approve=%q suggestions=%q ttl=%s\n", p.Automation, p.Approve, p.Suggestions, p.SuggestionTTL)
	}
	if p.Earned || !reflect.DeepEqual(p.Earn, policy.Earn{}) || p.JudgeAfter != 0 || p.JudgeReads != 0 {
		fmt.Fprintf(&b, "earned=%t bound=%v of=%d actions=%v trust=%q distrust=%q reset=%v evidence=%q\njudged after %s with %d reads\n",
			p.Earned, p.Earn.Bound, p.Earn.Of, p.Earn.Actions, p.Earn.Trust, p.Earn.Distrust, p.Earn.Reset, p.Earn.Evidence, p.JudgeTime(), p.Reads())
	}
	fmt.Fprintf(&b, "llm %q %q memory %q %q\n", c.LLM.Provider, c.LLM.Model, c.Memory.Store, c.Memory.Path)
	when := "when no rule fired"
	if c.Agent.When != nil {
		when = c.Agent.When.String()
	}
	fmt.Fprintf(&b, "agent %q %q %s when %q on failure %+v\n", c.Agent.URL, c.Agent.Auth, c.Agent.Timeout, when, c.Agent.OnFailure)
	if c.Agent.Name != "" {
		fmt.Fprintf(&b, "the agent's name is %q\n", c.Agent.Name)
	}
	if c.Agent.Inherited {
		b.WriteString("the agent's address is inherited\n")
	}
	fmt.Fprintf(&b, "rules %v\n", c.Rules.IDs())
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	return b.String()
}

// FuzzLoad checks that no file makes Load panic, and that every error has a position.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("version: 1\nmode: shadow\npolicy: {allow_close: true, limits: {comment: 1}, labels: {allow: [a*], deny: []}}\n"))
	f.Add([]byte("version: 1\nagent: {url: 'https://${HOST}', auth: oidc, timeout: 5s, when: not label(\"a\"), on_failure: {add_label: x}}\ninclude: x.yml\n"))
	f.Add([]byte("version: 1\nrules:\n  - {id: a, when: issue.title matches `x`, then: [{comment: \"{{ issue.author }}\"}]}\n"))
	f.Add([]byte("version: 1\nextends: o/r:f.yml@v1\ndisable: [a]\nlimits: {comment: 2}\nlabels: {allow: [a*]}\nagent: {may: [comment]}\n"))
	f.Add([]byte("version: 2\npolcy: [\n"))
	local := regexp.MustCompile(`(?m)^(extends|disable|include):.*$`)
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := Load(t.Context(), single{"f.yml", src}, Spec{Path: "f.yml", Remote: func(context.Context, RemoteFile) ([]byte, error) {
			return local.ReplaceAll(src, nil), nil // the extended file equals the file itself
		}})
		if err == nil {
			c.Policy.EffectiveLimits()
			c.Rules.IDs()
			return
		}
		ps, ok := errors.AsType[yamlfile.Problems](err)
		if !ok {
			t.Fatalf("an error without a place: %v", err)
		}
		for _, p := range ps {
			if p.File == "" {
				t.Fatalf("a problem of no file: %+v", p)
			}
		}
	})
}
