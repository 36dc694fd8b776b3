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

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A Request names one event by exactly one of File, Issue and Draft.
type Request struct {
	File  string       // with the payload; "-": standard input
	Issue string       // on GitHub, in a form that [ParseIssue] accepts
	Draft *draft.Issue // an issue that exists only on the command line; nil: none
	Name  string       // such as issues or issues.edited; empty: by the payload, or issues.opened for an issue
}

// Read reads the event from a file, or builds one for an issue on GitHub.
func Read(ctx context.Context, env process.Env, access remote.Access, r Request) (triage.Delivery, error) {
	if err := draft.CheckName(r.Name); err != nil {
		return triage.Delivery{}, flagged(err)
	}
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
	o := runner.Options{Config: cfg, Clock: runner.Clock{Now: env.Now}}
	access := remote.FromEnv(env)
	e, err := Read(ctx, env, access, r)
	if err != nil {
		return o, triage.Delivery{}, err
	}
	if r.Issue == "" {
		return o, e, nil
	}
	client, err := access.Client()
	o.Host = remote.HostOf(client, "")
	return o, e, err
}

// source returns the payload that the request names.
func source(ctx context.Context, env process.Env, access remote.Access, r Request) (triage.EventSource, error) {
	switch {
	case r.Issue != "":
		return fetched(ctx, access, r)
	case r.Draft != nil:
		src, err := r.Draft.Source(draft.Event{Name: r.Name, Repo: env.Getenv("GITHUB_REPOSITORY"), Now: env.Now()})
		return src, flagged(err)
	}
	src := triage.EventSource{File: r.File, Repo: env.Getenv("GITHUB_REPOSITORY")}
	dir, err := env.WorkDir()
	if err != nil {
		return src, err
	}
	if r.File == "-" {
		src.File = "standard input"
		src.Payload, err = readInput(ctx, env.Stdin)
	} else {
		src.Payload, err = files.Read(process.Below(dir, r.File), files.MaxEvent)
	}
	if err != nil {
		return src, command.Usagef("read the event: %w", err)
	}
	return src, nil
}

// flagged adds the name of the flag to a mistake in a described issue.
func flagged(err error) error {
	if e, ok := errors.AsType[*draft.Error](err); ok {
		return command.Usagef("--%w", e)
	}
	return err
}

// readInput reads standard input until it ends or the program is asked to stop.
func readInput(ctx context.Context, in io.Reader) ([]byte, error) {
	if in == nil {
		return nil, nil
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := files.ReadAll(in, "standard input", files.MaxEvent)
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
