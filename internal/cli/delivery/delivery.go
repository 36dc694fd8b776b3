// Package delivery reads the event that a command is about: from a file, or of an issue on
// GitHub.
package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// MaxSize bounds an event's payload; GitHub caps webhooks at 25 MB.
const MaxSize = 32 << 20

// A Request names one event: by File or by Issue, and not both.
type Request struct {
	File  string // with the payload; "-": standard input
	Issue string // on GitHub, as OWNER/REPO#N
	Name  string // such as issues or issues.edited; empty: by the payload, or issues.opened for an issue
}

// IsIssue tells an issue from a file by its form.
func IsIssue(arg string) bool {
	repo, number, ok := strings.Cut(arg, "#")
	_, err := triage.ParseNumber(number)
	return ok && err == nil && strings.Count(repo, "/") == 1
}

// Read reads the event from a file, or makes one of an issue on GitHub.
func Read(ctx context.Context, env process.Env, access remote.Access, r Request) (triage.Delivery, error) {
	src, err := source(ctx, env, access, r)
	if err != nil {
		return triage.Delivery{}, err
	}
	name, action, _ := strings.Cut(r.Name, ".")
	if r.Issue == "" {
		src.Name = name
	}
	e, err := triage.ParseEvent(src)
	if err != nil {
		return triage.Delivery{}, command.Usage(err)
	}
	if e.Name == triage.EventSchedule && e.Issue == nil {
		return triage.Delivery{}, command.Usagef("a scheduled run looks for its issues, which only the action does; " +
			"--issue OWNER/REPO#N --event-name schedule shows what would become of one")
	}
	if action != "" && action != e.Action {
		return triage.Delivery{}, command.Usagef("--event-name says %s, but the payload's action is %q", r.Name, e.Action)
	}
	return e, nil
}

// ForRules reads an event, and returns it with what explains the rules of a configuration
// on it. The host is that of GitHub for an issue there, if there is a token, else none.
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
	if r.Issue != "" {
		return fetched(ctx, access, r)
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
		src.Payload, err = files.Read(process.Below(dir, r.File), MaxSize)
	}
	if err != nil {
		return src, command.Usagef("read the event: %w", err)
	}
	return src, nil
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
		data, err := files.ReadAll(in, "standard input", MaxSize)
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
	repo, number, ok := strings.Cut(r.Issue, "#")
	owner, name, okRepo := protocol.SplitRepo(repo)
	n, err := triage.ParseNumber(number)
	if !ok || !okRepo || err != nil {
		return triage.EventSource{}, command.Usagef("--issue: want OWNER/REPO#N, got %q", r.Issue)
	}
	if access.Token == "" {
		return triage.EventSource{}, command.Usagef("fetch %s: %w: set GITHUB_TOKEN", r.Issue, triage.ErrNeedsHost)
	}
	client, err := access.Client()
	if err != nil {
		return triage.EventSource{}, err
	}
	issue, err := client.Issue(ctx, triage.Ref{Owner: owner, Repo: name, Number: n})
	if err != nil {
		return triage.EventSource{}, command.Failed(err)
	}
	event, action, _ := strings.Cut(r.Name, ".")
	if event == "" {
		event, action = triage.EventIssues, "opened"
	}
	payload, err := json.Marshal(map[string]any{
		"action": action, "issue": issue.Raw, "repository": map[string]string{"full_name": repo},
		"sender": senderOf(issue.Raw), "inputs": map[string]string{"issue": fmt.Sprint(n)},
	})
	return triage.EventSource{Name: event, File: r.Issue, Repo: repo, Issue: n, Payload: payload}, err
}

// senderOf returns the author of an issue, who opened it.
func senderOf(issue json.RawMessage) json.RawMessage {
	var o struct {
		User json.RawMessage `json:"user"`
	}
	if json.Unmarshal(issue, &o) != nil || len(o.User) == 0 || string(o.User) == "null" {
		return json.RawMessage("{}")
	}
	return o.User
}
