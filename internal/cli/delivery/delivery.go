// Package delivery reads the event that a command works on: from a file, for an issue on GitHub, or
// for an issue that the command line describes.
package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A Request names one event, by File, by Issue, or by Draft alone.
type Request struct {
	File  string // with the payload; "-": standard input
	Issue string // on GitHub, in a form that [ParseIssue] accepts
	// Draft describes the event; beside File only the results of look-ups. Nil: there is no description.
	Draft *draft.Draft
	Name  string // such as issues or issues.edited; empty: by the payload, or issues.opened for an issue
}

// Described reports whether flags or a file describe the event, and no payload contains it.
func (r Request) Described() bool { return r.Draft != nil && r.File == "" }

// Read reads the event from a file, builds one for an issue on GitHub, or describes one. The case has no
// look-ups for an issue on GitHub, and for a payload without its issue, because GitHub has them.
func Read(ctx context.Context, env process.Env, access remote.Access, r Request) (c ruletest.Case, offline bool, err error) {
	if err := draft.CheckName(r.Name); err != nil {
		return c, false, flagged(err)
	}
	var d draft.Draft
	if r.Draft != nil {
		d = *r.Draft
	}
	spec := ruletest.CaseSpec{Now: env.Now()}
	if owner, name, ok := protocol.SplitRepo(env.Getenv("GITHUB_REPOSITORY")); ok {
		spec.Repo = triage.Repo{Owner: owner, Name: name}
	}
	if !r.Described() {
		e, err := received(ctx, env, access, r)
		if err != nil {
			return c, false, err
		}
		if r.Issue != "" || e.Issue == nil {
			return ruletest.Case{Event: e, Now: env.Now()}, false, nil
		}
		spec.Event = &e
	}
	c, err = d.Case(spec, r.Name)
	if err != nil {
		return c, true, command.Usage(err)
	}
	return c, true, nil
}

// received reads an event from a file, or builds one for an issue on GitHub.
func received(ctx context.Context, env process.Env, access remote.Access, r Request) (triage.Delivery, error) {
	src, err := source(ctx, env, access, r)
	if err != nil {
		return triage.Delivery{}, err
	}
	name, action, _ := strings.Cut(r.Name, ".")
	if r.File != "" {
		src.Name = name
	}
	e, err := triage.ParseEvent(src)
	if err != nil {
		return triage.Delivery{}, command.Usage(err)
	}
	if r.File == "" {
		e.Fetched = env.Now() // there was no event
	}
	if e.Name == triage.EventSchedule && e.Issue == nil {
		return triage.Delivery{}, command.Usagef("only the action searches for the issues of a scheduled run; " +
			"to see the decision on one issue, use --issue OWNER/REPO#N --event-name schedule")
	}
	if r.File != "" && action != "" && action != e.Action {
		return triage.Delivery{}, command.Usagef("--event-name is %s, but the payload's action is %q", r.Name, e.Action)
	}
	return e, nil
}

// ForRules reads an event, and returns it with the options for explaining a configuration's rules
// on it. For an issue on GitHub with a token, the options contain GitHub as the host; else they
// contain no host.
func ForRules(ctx context.Context, env process.Env, cfg *config.Config, r Request) (runner.Options, triage.Delivery, error) {
	o := runner.Options{Config: cfg, DryRun: true, Clock: runner.Clock{Now: env.Now}}
	access := remote.FromEnv(env)
	c, offline, err := Read(ctx, env, access, r)
	if err != nil {
		return o, triage.Delivery{}, err
	}
	if offline {
		o.Supplied, o.Clock.Now = c.Lookup, func() time.Time { return c.Now }
	}
	if r.Issue == "" {
		return o, c.Event, nil
	}
	client, err := access.Client()
	o.Host = remote.HostOf(client, "")
	return o, c.Event, err
}

// source returns the payload that the request names.
func source(ctx context.Context, env process.Env, access remote.Access, r Request) (triage.EventSource, error) {
	if r.Issue != "" {
		return fetched(ctx, access, r)
	}
	src := triage.EventSource{File: r.File, Repo: env.Getenv("GITHUB_REPOSITORY")}
	if r.File == "-" {
		src.File = "standard input"
	}
	var err error
	if src.Payload, err = Input(ctx, env, r.File, files.MaxEvent); err != nil {
		return src, command.Usagef("read the event: %w", err)
	}
	return src, nil
}

// Input reads a file, or standard input for "-", of at most limit bytes.
func Input(ctx context.Context, env process.Env, file string, limit int64) ([]byte, error) {
	if file == "-" {
		return readInput(ctx, env.Stdin, limit)
	}
	dir, err := env.WorkDir()
	if err != nil {
		return nil, err
	}
	return files.Read(process.Below(dir, file), limit)
}

// flagged adds the name of the flag to a mistake in the name of an event.
func flagged(err error) error {
	if e, ok := errors.AsType[*draft.Error](err); ok {
		return command.Usagef("--%w", e)
	}
	return err
}

// readInput reads standard input until it ends or the program is asked to stop.
func readInput(ctx context.Context, in io.Reader, limit int64) ([]byte, error) {
	if in == nil {
		return nil, nil
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := files.ReadAll(in, "standard input", limit)
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fetched returns the payload of the event that an issue would have caused.
func fetched(ctx context.Context, access remote.Access, r Request) (triage.EventSource, error) {
	ref, err := ParseIssue(r.Issue, access.APIURL)
	if err != nil {
		return triage.EventSource{}, command.Usage(err)
	}
	if access.Token == "" {
		return triage.EventSource{}, command.Usagef("fetch %s: %w", ref, failure.ErrNoToken)
	}
	client, err := access.Client()
	if err != nil {
		return triage.EventSource{}, err
	}
	issue, err := client.Issue(ctx, ref)
	if err != nil {
		return triage.EventSource{}, command.Failed(err)
	}
	event, action, _ := strings.Cut(r.Name, ".")
	if event == "" {
		event, action = triage.EventIssues, "opened"
	}
	repo := ref.Owner + "/" + ref.Repo
	payload, err := json.Marshal(map[string]any{
		"action": action, "issue": issue.Raw, "repository": map[string]string{"full_name": repo},
		"sender": senderOf(issue.Raw), "inputs": map[string]string{"issue": fmt.Sprint(ref.Number)},
	})
	return triage.EventSource{Name: event, File: ref.String(), Repo: repo, Issue: ref.Number, Payload: payload}, err
}

// senderOf returns the author of an issue as the sender of its event.
func senderOf(issue json.RawMessage) json.RawMessage {
	var o struct {
		User json.RawMessage `json:"user"`
	}
	if json.Unmarshal(issue, &o) != nil || len(o.User) == 0 || string(o.User) == "null" {
		return json.RawMessage("{}")
	}
	return o.User
}
