// Package document is the JSON that commands print: the report on an event, the explanation of
// rules, mistakes in files, results of tests. Each is one object of a stable form.
package document

import (
	"errors"
	"fmt"
	"io"

	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Printed returns a report as triage --json prints it: without the title, which is in the event, and
// without the missing permissions, which are advice for people.
func Printed(rep runner.Report) runner.Report {
	rep.Title, rep.Missing = "", nil
	return rep
}

// Advise changes the texts of a report for users of a command: see [failure.Advise].
func Advise(rep *runner.Report) {
	for _, text := range []*string{&rep.Reason, &rep.Rationale} {
		*text = failure.Advise(*text)
	}
	for i, w := range rep.Warnings {
		rep.Warnings[i] = failure.Advise(w)
	}
	for i := range rep.Rules {
		rep.Rules[i].Why = failure.Advise(rep.Rules[i].Why)
	}
}

// An Explanation is the output of rules explain --json.
type Explanation struct {
	Version int               `json:"version"` // of this form
	Event   string            `json:"event"`
	Repo    string            `json:"repo"`
	Issue   int               `json:"issue"`
	Rules   []format.RuleJSON `json:"rules"`
}

// ExplanationOf returns the explanation of rules for an event.
func ExplanationOf(e triage.Delivery, list []rules.RuleWhy) Explanation {
	out := Explanation{Version: 1, Event: e.Key(), Repo: e.FullRepo(), Issue: e.Number, Rules: []format.RuleJSON{}}
	for _, r := range list {
		out.Rules = append(out.Rules, format.RuleOf(r))
	}
	return out
}

// Problems is the output of rules check --json, and of every command with --json that a mistake or
// a failure keeps from printing its own document.
type Problems struct {
	Version  int       `json:"version"` // of this form
	Problems []Problem `json:"problems"`
	Notes    []string  `json:"notes"` // unchecked parts
}

// A Problem is a mistake or a warning at its place.
type Problem struct {
	Severity string `json:"severity"` // error or warning
	File     string `json:"file"`
	Line     int    `json:"line"`   // from 1; 0: unknown
	Column   int    `json:"column"` // in characters, from 1; 0: unknown
	Message  string `json:"message"`
}

// ProblemsOf returns the mistakes and warnings in files with the notes that are not empty.
func ProblemsOf(ps yamlfile.Problems, notes ...string) Problems {
	out := Problems{Version: 1, Problems: make([]Problem, 0, len(ps)), Notes: append([]string{}, format.NonEmpty(notes...)...)}
	for _, p := range ps {
		severity := "error"
		if p.Warning {
			severity = "warning"
		}
		out.Problems = append(out.Problems, Problem{severity, p.File, p.Line, p.Column, p.Message})
	}
	return out
}

// PrintError prints an error as [Problems]: the mistakes in files that it contains, or else the error
// as the only one. It returns the exit code as a [command.ReportedError]. A reported error is
// returned unchanged.
func PrintError(w io.Writer, err error) error {
	if _, reported := errors.AsType[*command.ReportedError](err); reported {
		return err
	}
	ps := failure.Problems(err)
	if ps == nil {
		ps = yamlfile.Problems{{Message: err.Error()}}
	}
	if _, broken := fmt.Fprintln(w, format.JSON(ProblemsOf(ps), "  ")); broken != nil {
		return command.Failed(broken)
	}
	return command.Reported(command.ExitCode(err))
}

// Tests is the output of rules test --json.
type Tests struct {
	Version int    `json:"version"` // of this form
	Failed  int    `json:"failed"`
	Tests   []Test `json:"tests"`
}

// A Test is the result of one test.
type Test struct {
	Name       string            `json:"name"`
	File       string            `json:"file"`
	Line       int               `json:"line"`
	Passed     bool              `json:"passed"`
	Fired      []string          `json:"fired"`
	Mismatches []Mismatch        `json:"mismatches"`
	Rules      []format.RuleJSON `json:"rules"`   // rules that wrongly fired or did not fire
	Refused    []Refusal         `json:"refused"` // actions that are not carried out
	Scans      []Scan            `json:"scans"`   // for a test of the event schedule
}

// A Refusal is an action that is not carried out.
type Refusal struct {
	Action string `json:"action"` // in the form of a rule file
	Reason string `json:"reason"`
}

// A Scan is the search of a scheduled rule, as a test evaluates it.
type Scan struct {
	Query       string   `json:"query"`
	Found       bool     `json:"found"`
	Missed      string   `json:"missed"`      // the first term that the issue does not meet
	Unevaluated []string `json:"unevaluated"` // terms that count as met
}

// A Mismatch is one difference from the expectation of a test.
type Mismatch struct {
	Key    string `json:"key"` // a key of expect; empty: evaluating a condition failed
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Want   string `json:"want"`
	Got    string `json:"got"`
}

// TestsOf returns the results of tests.
func TestsOf(results []ruletest.Result) Tests {
	out := Tests{Version: 1, Failed: format.Failures(results), Tests: make([]Test, 0, len(results))}
	for _, r := range results {
		t := Test{
			Name: r.Test.Name, File: r.Test.File, Line: r.Test.Line, Passed: r.Passed(),
			Fired: append([]string{}, r.Fired...), Mismatches: []Mismatch{}, Rules: []format.RuleJSON{}, Refused: []Refusal{}, Scans: []Scan{},
		}
		for _, m := range r.Mismatches {
			t.Mismatches = append(t.Mismatches, Mismatch(m))
		}
		for _, w := range r.Rules {
			t.Rules = append(t.Rules, format.RuleOf(w))
		}
		for _, f := range r.Refused {
			t.Refused = append(t.Refused, Refusal(f))
		}
		for _, s := range r.Scans {
			t.Scans = append(t.Scans, Scan{s.Query, s.Missed == "", s.Missed, append([]string{}, s.Unevaluated...)})
		}
		out.Tests = append(out.Tests, t)
	}
	return out
}
