// Package action is the command that runs as a step of a GitHub Actions workflow.
package action

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/event"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/report"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/permission"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Run runs the step: it reads its inputs from INPUT_ variables and the event from GITHUB_EVENT_PATH,
// decides, acts, and writes the step's outputs and the job summary. Every failure is an annotation in
// the log, and the error a [command.ReportedError]. The environment must be complete.
func Run(ctx context.Context, env process.Env) error {
	rt := actions.New(actions.Options{Getenv: env.Getenv, Stdout: env.Stdout})
	res, err := step(ctx, rt, env)
	err = failure.Classify(err)
	if perr := publish(rt, res, env.Version, err); perr != nil && err == nil {
		err = command.Failed(perr)
		annotate(rt, err)
	}
	return command.Reported(command.ExitCode(err))
}

// step does the work of the action up to the report.
func step(ctx context.Context, rt *actions.Runtime, env process.Env) (report.Result, error) {
	none := report.Result{Report: runner.Report{Status: runner.StatusFailed}}
	in, err := rt.ParseInputs()
	if err != nil {
		return none.Failed(err), command.Usage(err)
	}
	job := rt.Env()
	delivered, err := readEvent(job, in)
	if err != nil {
		return none.Failed(err), command.Usage(err)
	}
	taskID, err := event.TaskID(job.Repository, job.RunID, delivered.Number)
	if err != nil {
		return none.Failed(err), err
	}
	rt.Log.Printf("foreman %s: %s on %s, task %s", env.Version, delivered.Key(), subject(delivered), taskID)
	load := config.Spec{
		Path: in.Config, Rules: in.Rules, Getenv: env.Getenv,
		Optional: in.AgentURL != nil || !in.IsSet(actions.InputConfig),
	}
	if in.AgentURL == nil && len(in.Rules) == 0 && in.Config == config.DefaultPath {
		load.Else = config.OtherPath // with other rules or an agent, every event would cost one more call
	}
	return event.Run(ctx, event.Settings{
		Env: env, Event: delivered, Files: workspace(job, delivered), Load: load,
		Access: remote.Access{
			Token: string(in.Token), TokenName: "the input token", APIURL: job.APIURL, UserAgent: env.UserAgent(), Now: env.Now, Sleep: env.Sleep,
		},
		Live: true, DryRun: in.DryRun, Overrides: overrides(in),
		Task:    runner.TaskIdentity{ID: taskID, Scope: scopeOf(job, in.JobIndex), Nonce: rand.Text(), First: job.RunAttempt == 1},
		Commit:  trusted(job, delivered),
		Memory:  event.MemoryPlace{Dir: job.Workspace, Store: "artifact", Branch: scheduledOn(job)},
		IDToken: rt.Tokens.IDToken, Mask: rt.Log.Mask, Log: slog.New(rt.Log.Handler(nil)),
		Audit: func(record runner.Audit) error {
			line, err := record.Line()
			rt.Log.Printf("%s", line)
			return err
		},
	})
}

// subject describes the issue of an event.
func subject(e triage.Delivery) string {
	if e.Number == 0 {
		return e.FullRepo()
	}
	return e.Ref().String()
}

// scheduledOn returns the default branch for a scheduled event, because only its workflows are
// scheduled, and is empty for other events. The payload of a scheduled event does not always name
// the branch.
func scheduledOn(env actions.Env) string {
	branch, ok := strings.CutPrefix(env.Ref, "refs/heads/")
	if !ok || env.EventName != triage.EventSchedule {
		return ""
	}
	return branch
}

// trusted returns the commit of the run if it is on the default branch of the event's repository, else "".
// A pull request has another ref, because its author controls the commit.
func trusted(env actions.Env, e triage.Delivery) string {
	branch := cmp.Or(e.Branch, scheduledOn(env))
	if branch == "" || env.Ref != "refs/heads/"+branch || !strings.EqualFold(env.Repository, e.FullRepo()) {
		return ""
	}
	return env.Commit
}

// workspace returns the files in which the configuration is looked up before the default branch. On
// a pull request there are none, because its author controls the checkout.
func workspace(env actions.Env, event triage.Delivery) config.Files {
	if event.OnPull() {
		return files.Layered{}
	}
	return files.Folder{Dir: env.Workspace}
}

func readEvent(env actions.Env, in actions.Values) (triage.Delivery, error) {
	if env.EventPath == "" {
		return triage.Delivery{}, errors.New("read the event: GITHUB_EVENT_PATH is not set; inside Actions it names the event's file")
	}
	payload, err := files.Read(env.EventPath, files.MaxEvent)
	if err != nil {
		return triage.Delivery{}, fmt.Errorf("read the event: %w", err)
	}
	return triage.ParseEvent(triage.EventSource{
		Name: env.EventName, File: env.EventPath, Repo: env.Repository, Issue: in.Issue, Payload: payload,
	})
}

// overrides are the inputs that win over the configuration file.
func overrides(in actions.Values) event.Overrides {
	o := event.Overrides{
		AgentToken: string(in.AgentToken), AllowClose: in.AllowClose, Bot: in.BotLogin,
		LLM: protocol.LLMBackendRef{Provider: in.LLMProvider, Model: in.LLMModel},
	}
	if in.AgentURL != nil {
		o.AgentURL = in.AgentURL.String()
	}
	if in.IsSet(actions.InputAgentAuth) {
		o.AgentAuth = in.AgentAuth
	}
	if in.IsSet(actions.InputAgentTimeout) {
		o.Timeout = in.AgentTimeout
	}
	if in.IsSet(actions.InputOnAgentError) {
		o.OnFailure = config.OnFailure{Set: true, Skip: in.OnAgentError == "skip"}
	}
	if in.IsSet(actions.InputMemory) {
		o.Memory.Store = in.Memory
	}
	if in.IsSet(actions.InputMemoryPath) {
		o.Memory.Path = in.MemoryPath
	}
	if in.IsSet(actions.InputSummary) {
		o.Memory.Summary = in.Summary
	}
	o.Model, o.ModelKey = modelOverrides(in), in.LLMKey
	return o
}

func modelOverrides(in actions.Values) config.Model {
	var m config.Model
	if in.LLMBaseURL != nil {
		m.BaseURL = in.LLMBaseURL.String()
	}
	if in.IsSet(actions.InputLLMTimeout) {
		m.Timeout = in.LLMTimeout
	}
	if in.IsSet(actions.InputLLMMaxTokens) {
		m.MaxTokens = in.LLMMaxTokens
	}
	return m
}

// scopeOf returns a key that differs between the steps of a run, so that each step posts its own
// comments. It also differs between the jobs of a matrix; index is the index of this job. It is the
// same in each attempt of the run.
func scopeOf(env actions.Env, index int) string {
	if env.Job == "" && env.Step == "" {
		return ""
	}
	scope := protocol.DeriveTaskID(env.Job, env.Step)[:8]
	if index == 0 { // the first job of a matrix, or no matrix
		return scope
	}
	return scope + "." + strconv.Itoa(index)
}

// publish writes the outputs, the summary and the annotations.
func publish(rt *actions.Runtime, res report.Result, version string, err error) error {
	annotate(rt, err)
	rep := res.Report
	if err == nil && rep.Reason != "" {
		rt.Log.Annotate(actions.Annotation{Level: actions.Notice, Title: "Foreman", Message: rep.Reason})
	}
	if res.NoConfig {
		rt.Log.Annotate(actions.Annotation{Level: actions.Notice, Title: "Foreman", Message: noConfigNotice})
	}
	if res.Survey != nil {
		for _, c := range res.Survey.Judgment.Changes {
			rt.Log.Annotate(actions.Annotation{Level: actions.Notice, Title: "Foreman", Message: permission.Describe(c)})
		}
	}
	for _, w := range rep.Warnings {
		rt.Log.Annotate(actions.Annotation{Level: actions.Warning, Title: "Foreman", Message: w})
	}
	if res.ReadOnly() {
		rt.Log.Annotate(actions.Annotation{Level: actions.Error, Title: "Foreman", Message: report.ForkAdvice})
	} else if len(rep.Missing) > 0 {
		rt.Log.Printf("%s", grants.Help(res.Needs, rep.Missing))
	}
	var errs []error
	for _, o := range report.Outputs(res) {
		errs = append(errs, rt.Files.SetOutput(o.Name, o.Value))
	}
	errs = append(errs, rt.Files.AddSummary(report.Summary(res, version, err)))
	rt.Log.Printf("%s", strings.Join(format.NonEmpty(string(rep.Status), string(rep.Decision)), ": "))
	return errors.Join(errs...)
}

// noConfigNotice tells a user who has just added the step how to go on.
const noConfigNotice = "there is no " + config.DefaultPath + " and no agent, so nothing was decided; " +
	"the job summary holds a rule file to start with, and foreman init writes one"

// annotate reports an error: each mistake in a file at its line.
func annotate(rt *actions.Runtime, err error) {
	if err == nil {
		return
	}
	if ps := failure.Problems(err); ps != nil {
		for _, p := range ps {
			rt.Log.Annotate(actions.Annotation{
				Level: actions.Error, Title: "Foreman configuration", File: p.File, Line: p.Line, Column: p.Column, Message: p.Message,
			})
			rt.Log.Printf("%s", p.Error())
		}
		return
	}
	if e, ok := errors.AsType[*rules.EvalError](err); ok {
		rt.Log.Annotate(actions.Annotation{
			Level: actions.Error, Title: "Foreman rule " + e.Rule, File: e.Problem.File,
			Line: e.Problem.Line, Column: e.Problem.Column, Message: e.Problem.Message,
		})
		return
	}
	for _, e := range unjoin(err) {
		rt.Log.Annotate(actions.Annotation{Level: actions.Error, Title: "Foreman", Message: e.Error()})
	}
}

// unjoin returns the errors combined by errors.Join, or else the error itself.
func unjoin(err error) []error {
	switch err.(type) { //nolint:errorlint // the wrapper on the outside, and no deeper
	case *command.UsageError, *command.FailedError:
		return unjoin(errors.Unwrap(err))
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}
