// Package playground answers requests of the page on which people try rules. It takes a rule file
// and an event, and returns the documents that foreman would print for them. It uses no files, no
// network, and no clock except the one it is given.
package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Limits of a request, in bytes.
const (
	MaxRules = 256 << 10
	MaxEvent = 1 << 20
)

// An Engine answers requests.
type Engine struct {
	Now func() time.Time // required
}

// A Request is a rule file with an event. The event is either a payload, or described by Case and
// Values. Beside a payload, these have the results of look-ups.
type Request struct {
	Rules   string `json:"rules"`
	Event   string `json:"event"`   // such as issues.opened; empty: derived from the payload, or by the description
	Payload string `json:"payload"` // as GitHub sends it; empty: the event is described
	Case    string `json:"case"`    // YAML with the keys of a test
	// Values are those of draft.Values by their names, such as "issue.title". They replace values of Case.
	Values map[string]any `json:"values"`
}

// A Response is the answer to a request. A document is nil if a mistake prevents it.
type Response struct {
	Version  int               `json:"version"`  // version of this format
	Error    string            `json:"error"`    // in the event or the request; else empty
	Problems document.Problems `json:"problems"` // as printed by foreman rules check --format json
	// Report is the plan, as printed by foreman triage --json.
	Report *runner.Report `json:"report"`
	// Explanation explains the rules part by part, as printed by foreman rules explain --json.
	Explanation *document.Explanation `json:"explanation"`
	// Tests are the results of the tests in the rule file, as printed by foreman rules test --json.
	Tests *document.Tests `json:"tests"`
}

// unwritten is the response when a response cannot be encoded. It has all keys of a [Response].
const unwritten = `{"version":1,"error":"the response cannot be written","problems":{"version":1,"problems":[],"notes":[]},"report":null,"explanation":null,"tests":null}`

// AnswerJSON is [Engine.Answer] for a request in JSON. The response is JSON, too.
func (e Engine) AnswerJSON(ctx context.Context, request string) string {
	var in Request
	out := Response{Version: 1, Problems: document.ProblemsOf(nil)}
	if err := json.Unmarshal([]byte(request), &in); err != nil {
		out.Error = fmt.Sprintf("read the request: %v", err)
	} else {
		out = e.Answer(ctx, in)
	}
	data, err := json.Marshal(out)
	if err != nil {
		data, err = json.Marshal(Response{Version: 1, Problems: document.ProblemsOf(nil), Error: fmt.Sprintf("write the response: %v", err)})
	}
	if err != nil {
		return unwritten
	}
	return string(data)
}

// Answer checks the rules, decides on the event and runs the tests.
func (e Engine) Answer(ctx context.Context, in Request) Response {
	out := Response{Version: 1, Problems: document.ProblemsOf(nil)}
	if err := in.check(); err != nil {
		out.Error = err.Error()
		return out
	}
	c, problems, err := load(ctx, in.Rules)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Problems = document.ProblemsOf(problems)
	tried, err := in.event(e.Now())
	if err != nil {
		out.Error = err.Error()
	}
	if c == nil {
		return out
	}
	tests := make([]ruletest.Result, 0, len(c.Tests))
	for _, t := range c.Tests {
		tests = append(tests, ruletest.Run(ctx, c.Rules, t, c.Policy))
	}
	results := document.TestsOf(tests)
	out.Tests = &results
	if err != nil {
		return out
	}
	if err := e.decide(ctx, c, tried, &out); err != nil {
		out.Error = err.Error()
	}
	return out
}

// check checks the sizes of a request.
func (in Request) check() error {
	described := len(in.Case)
	for _, value := range in.Values {
		switch v := value.(type) {
		case string:
			described += len(v)
		case []any:
			for _, item := range v {
				s, _ := item.(string)
				described += len(s)
			}
		}
	}
	switch {
	case len(in.Rules) > MaxRules:
		return fmt.Errorf("the rules have %d bytes; the playground takes %d", len(in.Rules), MaxRules)
	case max(len(in.Payload), described) > MaxEvent:
		return fmt.Errorf("the event has %d bytes; the playground takes %d", max(len(in.Payload), described), MaxEvent)
	}
	return nil
}

// load loads the rules with their tests. The configuration is nil if there are mistakes.
func load(ctx context.Context, rules string) (*config.Config, yamlfile.Problems, error) {
	c, err := config.Load(ctx, file(rules), config.Spec{
		Path: config.DefaultPath, Tests: true, Getenv: config.AnyVariable(nil),
		Remote: func(context.Context, config.RemoteFile) ([]byte, error) {
			return nil, fmt.Errorf("the playground has no access to GitHub: %w", triage.ErrNeedsHost)
		},
	})
	if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
		return nil, ps, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := yamlfile.Parse(config.DefaultPath, []byte(rules))
	if err != nil {
		return nil, nil, err
	}
	problems := slices.Concat(c.Warnings, c.UnusualPatterns(nil), lint.Check(c, []*yamlfile.File{f}, &lint.Repository{}))
	yamlfile.Sort(problems)
	return c, problems, nil
}

// file implements [config.Files] with a single file, the configuration file.
type file string

// Read implements [config.Files].
func (f file) Read(_ context.Context, path string) ([]byte, error) {
	if path != config.DefaultPath {
		return nil, fs.ErrNotExist
	}
	return []byte(f), nil
}

// Glob implements [config.Files].
func (file) Glob(context.Context, string) ([]string, error) { return nil, nil }

// event parses the payload, or creates the described event.
func (in Request) event(now time.Time) (ruletest.Case, error) {
	spec := ruletest.CaseSpec{Now: now}
	if err := draft.CheckName(in.Event); err != nil {
		return ruletest.Case{}, err
	}
	if in.Payload != "" {
		d, err := in.delivery()
		if err != nil {
			return ruletest.Case{}, err
		}
		spec.Event = &d
	}
	values, err := in.values()
	if err != nil {
		return ruletest.Case{}, err
	}
	return draft.Draft{File: "case", Source: []byte(in.Case), Values: values}.Case(spec, in.Event)
}

// delivery parses the payload.
func (in Request) delivery() (triage.Delivery, error) {
	name, _, _ := strings.Cut(in.Event, ".")
	d, err := triage.ParseEvent(triage.EventSource{Name: name, File: "event", Payload: []byte(in.Payload)})
	switch {
	case err != nil:
		return d, err
	case d.Name == triage.EventSchedule && d.Issue == nil:
		return d, errors.New("event: a scheduled run looks for its issues on GitHub; choose the event schedule with a described issue")
	case d.Issue == nil:
		return d, errors.New("event: the payload holds no issue, and the playground reads none from GitHub")
	}
	return d, nil
}

// values returns the values of the request with their types.
func (in Request) values() ([]ruletest.Field, error) {
	var list []ruletest.Field
	for _, v := range draft.Values() {
		value, ok := in.Values[v.Name]
		if !ok {
			continue
		}
		field := ruletest.Field{Name: v.Name, Value: value, From: v.Name}
		switch x := value.(type) {
		case string, bool:
		case float64:
			field.Value = int(x)
			if x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
				return nil, fmt.Errorf("%s: want a whole number, got %v", v.Name, x)
			}
		case []any:
			texts := make([]string, len(x))
			for i, item := range x {
				texts[i] = fmt.Sprint(item)
			}
			field.Value = texts
		default:
			return nil, fmt.Errorf("%s: want a text, a number or a list", v.Name)
		}
		list = append(list, field)
	}
	return list, nil
}

// decide adds the plan and the explanation of the rules to the response. A failure of the rules is
// reported in the plan.
func (e Engine) decide(ctx context.Context, c *config.Config, tried ruletest.Case, out *Response) error {
	var warnings []string
	for _, w := range c.Warnings {
		warnings = append(warnings, w.Error())
	}
	warnings = append(warnings, c.WithoutServices()...)
	o := runner.Options{
		Config: c, DryRun: true, Supplied: tried.Lookup, Clock: runner.Clock{Now: func() time.Time { return tried.Now }},
	}
	list, err := runner.Explain(ctx, o, tried.Event)
	if err != nil {
		return err
	}
	explained := document.ExplanationOf(tried.Event, list)
	out.Explanation = &explained
	r, err := runner.New(o)
	if err != nil {
		return err
	}
	rep, _ := r.Run(ctx, runner.TaskIdentity{}, tried.Event)
	rep.Warnings = append(warnings, rep.Warnings...)
	document.Advise(&rep)
	report := document.Printed(rep)
	out.Report = &report
	return nil
}
