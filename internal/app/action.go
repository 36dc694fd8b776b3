package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// maxEvent bounds an event's payload; GitHub caps webhooks at 25 MB.
const maxEvent = 32 << 20

// action runs the step and returns its exit code. Whatever goes wrong is an
// annotation in the log.
func (a App) action(ctx context.Context) int {
	rt := actions.New(actions.Options{Getenv: a.Getenv, Stdout: a.Stdout})
	res, err := a.step(ctx, rt)
	err = classify(err)
	if perr := publish(rt, res, err); perr != nil && err == nil {
		err = command.Failed(perr)
		annotate(rt, err)
	}
	return command.ExitCode(err)
}

// step does the work of the action up to the report.
func (a App) step(ctx context.Context, rt *actions.Runtime) (result, error) {
	none := result{report: runner.Report{Status: runner.StatusFailed}}
	in, err := rt.ParseInputs()
	if err != nil {
		return none.failed(err), &usageError{err}
	}
	env := rt.Env()
	event, err := readEvent(env, in)
	if err != nil {
		return none.failed(err), &usageError{err}
	}
	taskID, err := runTaskID(env.Repository, env.RunID, event.Number)
	if err != nil {
		return none.failed(err), err
	}
	j := job{
		app: a, event: event, files: workspace(env, event), dir: env.Workspace,
		load: config.Spec{
			Path: in.Config, Rules: in.Rules, Getenv: a.Getenv,
			Optional: in.AgentURL != nil || !in.IsSet(actions.InputConfig),
		},
		token: string(in.Token), apiURL: env.APIURL, dryRun: in.DryRun,
		override: inputOverrides(in),
		taskID:   taskID,
		scope:    scopeOf(env), nonce: rand.Text(), resumed: env.RunAttempt > 1, live: true,
		store:   "artifact",
		branch:  scheduledOn(env),
		idToken: rt.IDToken, mask: rt.Mask, log: rt.Printf, logger: slog.New(rt.Handler(nil)),
		audit: func(record runner.Audit) error {
			line, err := record.Line()
			rt.Printf("%s", line)
			return err
		},
	}
	rt.Printf("foreman %s: %s on %s, task %s", version(), event.Key(), subject(event), j.taskID)
	return j.run(ctx)
}

// workspace is where configuration is read from before the default branch is asked. What
// is checked out for a pull request is its author's, and no configuration.
func workspace(env actions.Env, event triage.Delivery) config.Files {
	if event.Pull != nil {
		return layered{}
	}
	return folder{env.Workspace}
}

func readEvent(env actions.Env, in actions.Values) (triage.Delivery, error) {
	if env.EventPath == "" {
		return triage.Delivery{}, errors.New("read the event: GITHUB_EVENT_PATH is not set; inside Actions it names the event's file")
	}
	payload, err := readFile(env.EventPath, maxEvent)
	if err != nil {
		return triage.Delivery{}, fmt.Errorf("read the event: %w", err)
	}
	return triage.ParseEvent(triage.EventSource{
		Name: env.EventName, File: env.EventPath, Repo: env.Repository, Issue: in.Issue, Payload: payload,
	})
}

func inputOverrides(in actions.Values) overrides {
	o := overrides{
		agentToken: string(in.AgentToken), allowClose: in.AllowClose, bot: in.BotLogin,
		llm: protocol.LLMBackendRef{Provider: in.LLMProvider, Model: in.LLMModel},
	}
	if in.AgentURL != nil {
		o.agentURL = in.AgentURL.String()
	}
	if in.IsSet(actions.InputAgentAuth) {
		o.agentAuth = in.AgentAuth
	}
	if in.IsSet(actions.InputAgentTimeout) {
		o.timeout = in.AgentTimeout
	}
	if in.IsSet(actions.InputOnAgentError) {
		o.onFailure = config.OnFailure{Set: true, Skip: in.OnAgentError == "skip"}
	}
	if in.IsSet(actions.InputMemory) {
		o.memory.Store = in.Memory
	}
	if in.IsSet(actions.InputMemoryPath) {
		o.memory.Path = in.MemoryPath
	}
	if in.IsSet(actions.InputSummary) {
		o.memory.Summary = in.Summary
	}
	o.model, o.modelKey = modelOverrides(in), in.LLMKey
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

// scopeOf tells two steps of one run apart, so that each posts its own comments.
func scopeOf(env actions.Env) string {
	if env.Job == "" && env.Step == "" {
		return ""
	}
	return protocol.DeriveTaskID(env.Job, env.Step)[:8]
}

// publish writes the outputs, the summary and the annotations.
func publish(rt *actions.Runtime, res result, err error) error {
	annotate(rt, err)
	rep := res.report
	if err == nil && rep.Reason != "" {
		rt.Annotate(actions.Annotation{Level: actions.Notice, Title: "Foreman", Message: rep.Reason})
	}
	if res.noConfig {
		rt.Annotate(actions.Annotation{Level: actions.Notice, Title: "Foreman", Message: noConfigNotice})
	}
	for _, w := range rep.Warnings {
		rt.Annotate(actions.Annotation{Level: actions.Warning, Title: "Foreman", Message: w})
	}
	if len(rep.Missing) > 0 {
		rt.Printf("%s", permissionsHelp(res.needs, rep.Missing))
	}
	var errs []error
	for _, o := range append(outputValues(rep), surveyOutputs(res.survey)...) {
		errs = append(errs, rt.SetOutput(o.name, o.value))
	}
	errs = append(errs, rt.AddSummary(summary(res, err)))
	rt.Printf("%s", strings.Join(nonEmpty(string(rep.Status), string(rep.Decision)), ": "))
	return errors.Join(errs...)
}

// noConfigNotice is what somebody reads who has just added the step.
const noConfigNotice = "there is no " + config.DefaultPath + " and no agent, so nothing was decided; " +
	"the job summary holds a rule file to start with"

// annotate reports an error: each mistake in a file at its line.
func annotate(rt *actions.Runtime, err error) {
	if err == nil {
		return
	}
	if ps := problemsOf(err); ps != nil {
		for _, p := range ps {
			rt.Annotate(actions.Annotation{
				Level: actions.Error, Title: "Foreman configuration", File: p.File, Line: p.Line, Column: p.Column, Message: p.Msg,
			})
			rt.Printf("%s", p.Error())
		}
		return
	}
	if e, ok := errors.AsType[*rules.EvalError](err); ok {
		rt.Annotate(actions.Annotation{
			Level: actions.Error, Title: "Foreman rule " + e.Rule, File: e.Problem.File,
			Line: e.Problem.Line, Column: e.Problem.Column, Message: e.Problem.Msg,
		})
		return
	}
	for _, e := range unjoin(err) {
		rt.Annotate(actions.Annotation{Level: actions.Error, Title: "Foreman", Message: e.Error()})
	}
}

func problemsOf(err error) strictyaml.Problems {
	ps, _ := errors.AsType[strictyaml.Problems](err)
	return ps
}

// unjoin returns the errors that errors.Join put together, else the error itself.
func unjoin(err error) []error {
	switch err.(type) { //nolint:errorlint // the wrapper on the outside, and no deeper
	case *usageError, *command.FailedError:
		return unjoin(errors.Unwrap(err))
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}
