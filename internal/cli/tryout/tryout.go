// Package tryout contains the flags with which commands describe an event that nobody sent.
package tryout

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// Flags are the flags of one command that name or describe its event.
type Flags struct {
	file   string
	values []func() any // of draft.Values, in the same order
}

// Add adds the flags to a command. The event of r is read from a payload or from GitHub; [Flags.Draft]
// describes one.
func Add(c *cobra.Command, r *delivery.Request) *Flags {
	f, fl := &Flags{}, c.Flags()
	for _, v := range draft.Values() {
		switch v.Kind {
		case draft.Text:
			p := fl.String(v.Flag, "", v.Usage)
			f.values = append(f.values, func() any { return *p })
		case draft.Texts:
			p := fl.StringArray(v.Flag, nil, v.Usage)
			f.values = append(f.values, func() any { return *p })
		case draft.Number:
			p := fl.Int(v.Flag, 0, v.Usage)
			f.values = append(f.values, func() any { return *p })
		case draft.Switch:
			p := fl.Bool(v.Flag, false, v.Usage)
			f.values = append(f.values, func() any { return *p })
		}
	}
	fl.StringVar(&f.file, draft.CaseFlag, "", "`FILE` with an event and with results of look-ups, as an item of tests:, \"-\" for standard input")
	fl.StringVar(&r.File, "event", "", "`FILE` with the event's payload, \"-\" for standard input")
	fl.StringVar(&r.Name, "event-name", "", "`NAME` of the event, such as issues or issues.edited (default: by the payload or the other flags)")
	group.ValuesOf(c, "event-name", rules.Events)
	group.Values(c, "association", "OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "NONE")
	group.Values(c, "permission", "admin", "maintain", "write", "triage", "read", "none")
	return f
}

// Draft sets the description in r if a flag has one. The command must have parsed its flags.
func (f *Flags) Draft(c *cobra.Command, env process.Env, r *delivery.Request) error {
	var d draft.Draft
	for i, v := range draft.Values() {
		if c.Flags().Changed(v.Flag) {
			d.Values = append(d.Values, ruletest.Field{Name: v.Name, Value: f.values[i](), From: "--" + v.Flag})
		}
	}
	if c.Flags().Changed(draft.CaseFlag) {
		if f.file == "-" && r.File == "-" {
			return command.Usagef("--case and --event cannot both be standard input")
		}
		var err error
		d.File = f.file
		if f.file == "-" {
			d.File = "standard input"
		}
		if d.Source, err = delivery.Input(c.Context(), env, f.file, files.MaxSize); err != nil {
			return command.Usagef("read the case: %w", err)
		}
	}
	if d.File == "" && len(d.Values) == 0 {
		return nil
	}
	if r.Issue != "" {
		return command.Usagef("%s: leave it out, because the issue on GitHub has the value", names(d))
	}
	r.Draft = &d
	return nil
}

// names returns the flags of a description.
func names(d draft.Draft) string {
	if d.File != "" {
		return "--" + draft.CaseFlag
	}
	return d.Values[0].From
}
