package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/issueagent"
	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

// serveFlags are the flags of the command agent serve.
type serveFlags struct {
	listen, config           string
	rules, labels            []string
	provider, model, baseURL string
	window, wait             time.Duration
	concurrency              int
	sync                     bool
}

const serveHelp = `Serves the reference agent: it triages issues by rules (--rules) or by a model
(--provider and --model, or llm in the file of --config). It leaves an issue alone for a day
after a reply, takes nothing from a model but what was offered to it, and tells the model
where the text of strangers begins and ends.

With FOREMAN_HARNESS_URL it works for a harness with a queue: it claims what waits, and is
healthy from then on; it takes nudges, and keeps its claims with heartbeats. Without, or with
--sync, it answers whole tasks, as the action's agent-url wants it.

Environment: FOREMAN_HARNESS_URL and AGENT_URL (where the harness is, and what it calls this
agent), FOREMAN_HARNESS_TOKEN (a bearer token for it, instead of userinfo in its address),
FOREMAN_LLM_KEY, or else ANTHROPIC_API_KEY or OPENAI_API_KEY.

Exit codes: 0 it was asked to end, 1 it could not go on, 2 a mistake in arguments or files.`

const serveExample = `  foreman agent serve --rules rules.yml
  FOREMAN_HARNESS_URL=http://localhost:8000 AGENT_URL=http://localhost:9001 \
    foreman agent serve --listen 127.0.0.1:9001 --provider ollama --model llama3.2`

func (a App) agentServeCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:     "serve (--rules FILE | --provider NAME --model NAME | --config FILE)",
		Short:   "Serve an agent that triages issues by rules or by a model",
		Long:    serveHelp,
		Example: serveExample,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.agentServe(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8000", "`ADDRESS` to listen on")
	fl.StringVar(&f.config, "config", "", "configuration `FILE`, for its rules or its llm")
	fl.StringArrayVar(&f.rules, "rules", nil, "rule `FILE` or glob; may be repeated")
	fl.StringVar(&f.provider, "provider", "", "`NAME` of the model's provider: anthropic, openai or ollama")
	fl.StringVar(&f.model, "model", "", "`NAME` of the model")
	fl.StringVar(&f.baseURL, "base-url", "", "`URL` of a service that speaks the provider's protocol")
	fl.StringArrayVar(&f.labels, "label", nil, "`NAME` of a label that the model may add; may be repeated (default: any)")
	fl.DurationVar(&f.window, "window", issueagent.DefaultWindow, "how long an issue is left alone after a reply; 0: not at all")
	fl.DurationVar(&f.wait, "wait", 30*time.Second, "how long the harness is asked to wait for a task")
	fl.IntVar(&f.concurrency, "concurrency", 1, "tasks at a time")
	fl.BoolVar(&f.sync, "sync", false, "answer whole tasks too, also with a harness that has a queue")
	c.MarkFlagsMutuallyExclusive("rules", "model")
	return c
}

func (a App) agentServe(ctx context.Context, f serveFlags) error {
	decider, err := a.decider(ctx, f)
	if err != nil {
		return err
	}
	if f.concurrency < 1 {
		return usagef("--concurrency: want at least 1, got %d", f.concurrency)
	}
	log := slog.New(slog.NewTextHandler(a.Stderr, nil))
	var ready atomic.Bool
	var worker *agent.Worker
	o := agent.HandlerOptions{Ready: ready.Load}
	if harness := a.Getenv("FOREMAN_HARNESS_URL"); harness != "" {
		worker, err = a.worker(harness, f, agent.WorkerOptions{
			Decide: decider.Decide, Concurrency: f.concurrency, Log: log,
			Drained: func() { ready.Store(true); log.Info("nothing waits any more") },
		})
		if err != nil {
			return &usageError{err}
		}
		o.Nudge = worker.Nudge
	}
	if worker == nil || f.sync {
		o.Decide = limited(f.concurrency, decider.Decide)
	}
	ready.Store(worker == nil)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return command.Failed(fmt.Errorf("listen: %w", err))
	}
	fmt.Fprintf(a.Stderr, "foreman: the agent listens on http://%s\n", l.Addr())
	return serveAgent(ctx, l, agent.NewHandler(o), worker)
}

// limited lets so many tasks be decided on at a time; the others wait.
func limited(n int, decide agent.DecideFunc) agent.DecideFunc {
	slots := make(chan struct{}, n)
	return func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			return decide(ctx, task)
		case <-ctx.Done():
			return protocol.DecisionMessage{}, ctx.Err()
		}
	}
}

// worker returns a worker for the harness of the environment.
func (a App) worker(harness string, f serveFlags, o agent.WorkerOptions) (*agent.Worker, error) {
	self := a.Getenv("AGENT_URL")
	if self == "" {
		return nil, errors.New("FOREMAN_HARNESS_URL is set, and AGENT_URL is not: the harness must know this agent by an address")
	}
	client, err := agent.NewClient(agent.ClientOptions{
		URL: harness, AgentURL: self, Token: a.Getenv("FOREMAN_HARNESS_TOKEN"), Wait: f.wait, UserAgent: userAgent(),
	})
	if err != nil {
		return nil, err
	}
	o.Client = client
	return agent.NewWorker(o)
}

// serveAgent serves until ctx ends, or one of the two gives up.
func serveAgent(ctx context.Context, l net.Listener, h http.Handler, worker *agent.Worker) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(l)
		stop()
	}()
	var err error
	if worker != nil {
		err = worker.Run(ctx)
	} else {
		<-ctx.Done()
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), agent.DefaultGrace)
	defer cancel()
	if srv.Shutdown(end) != nil {
		_ = srv.Close()
	}
	if gone := <-served; !errors.Is(gone, http.ErrServerClosed) {
		err = errors.Join(err, gone)
	}
	if err != nil {
		return command.Failed(err)
	}
	return nil
}

// decider returns the agent that the flags describe.
func (a App) decider(ctx context.Context, f serveFlags) (*issueagent.Agent, error) {
	dir, err := a.workDir()
	if err != nil {
		return nil, err
	}
	cfg := &config.Config{}
	if f.config != "" || len(f.rules) > 0 {
		cfg, err = config.Load(ctx, anywhere{dir}, config.Spec{Path: f.config, Rules: f.rules, Getenv: a.Getenv})
		if problems, ok := errors.AsType[strictyaml.Problems](err); ok {
			return nil, usagef("%s", problems.Error())
		}
		if err != nil {
			return nil, &usageError{err}
		}
	}
	if cfg == nil {
		cfg = &config.Config{}
	}
	o := issueagent.Options{Labels: f.labels, Window: f.window, Now: a.Now}
	if f.window <= 0 {
		o.Window = -1
	}
	provider, model := cmp.Or(f.provider, cfg.LLM.Provider), cmp.Or(f.model, cfg.LLM.Model)
	switch {
	case f.model == "" && f.provider == "" && cfg.Rules.Len() > 0:
		o.Rules = cfg
	case provider == "" || model == "":
		return nil, usagef("say how the agent decides: --rules FILE, or --provider NAME and --model NAME")
	default:
		if o.Model, err = a.model(provider, model, f.baseURL, cfg.Model); err != nil {
			return nil, &usageError{err}
		}
	}
	agent, err := issueagent.New(o)
	if err != nil {
		return nil, &usageError{err}
	}
	return agent, nil
}

// model returns the model that decides. A triage takes longer than a sentence.
func (a App) model(provider, name, baseURL string, c config.Model) (memory.Model, error) {
	return llm.New(llm.Options{
		Provider: provider, Model: name, BaseURL: cmp.Or(baseURL, c.BaseURL), Key: job{app: a}.modelKey(provider),
		MaxTokens: c.MaxTokens, Timeout: cmp.Or(c.Timeout, 2*time.Minute), UserAgent: userAgent(), Now: a.Now, Sleep: a.Sleep,
	})
}
