// Package serve is the command that serves the reference agent.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/agent/issueagent"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/model"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

const help = `Serves the reference agent: it triages issues by rules (--rules) or by a model
(--provider and --model, or llm in the file of --config). It skips an issue for a day after a
reply, accepts only offered labels from a model, and marks untrusted text in the prompt.

With FOREMAN_HARNESS_URL it works for a harness with a queue: it claims waiting tasks, and is
healthy from then on; it accepts nudges, and renews its claims with heartbeats. Without, or with
--sync, it answers whole tasks, for the action's agent-url.

It answers only requests for a loopback name or for the host of --listen or AGENT_URL; --host
adds a name, such as that of a container. Requests from pages of other hosts are refused.

Environment: FOREMAN_HARNESS_URL and AGENT_URL (the addresses of the harness and of this
agent), FOREMAN_HARNESS_TOKEN (a bearer token for it, instead of userinfo in its address),
FOREMAN_LLM_KEY, or else ANTHROPIC_API_KEY or OPENAI_API_KEY.

Exit codes: 0 stopped by a signal, 1 a failure, 2 a mistake in arguments or files.`

const example = `  foreman agent serve --rules rules.yml
  FOREMAN_HARNESS_URL=http://localhost:8000 AGENT_URL=http://localhost:9001 \
    foreman agent serve --listen 127.0.0.1:9001 --provider ollama --model llama3.2`

// Options are all that the command depends on.
type Options struct {
	Env         process.Env
	Listen      string        // address
	Config      string        // configuration file, for its rules or its llm; empty: none
	Rules       []string      // rule files and globs; empty: those of Config
	Provider    string        // of the model; empty: that of Config
	Model       string        // empty: that of Config
	BaseURL     string        // of the model's service; empty: that of Config, or the provider's
	Labels      []string      // labels that the model may add; empty: any
	Window      time.Duration // how long an issue is skipped after a reply; 0: never
	Wait        time.Duration // how long the harness may wait for a task before it replies
	Concurrency int
	Hosts       []string // further names under which the agent answers
	Version     string   // of the agent, for harnesses; empty: none
	Sync        bool     // decide whole tasks in the response, even if the harness has a queue
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:     "serve (--rules FILE | --provider NAME --model NAME | --config FILE)",
		Short:   "Serve an agent that triages issues by rules or by a model",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return Run(c.Context(), o) },
	}
	fl := c.Flags()
	fl.StringVar(&o.Listen, "listen", "127.0.0.1:8000", "`ADDRESS` to listen on")
	fl.StringArrayVar(&o.Hosts, "host", nil, "further `NAME` under which the agent answers; may be repeated (default: loopback names, and the hosts of --listen and AGENT_URL)")
	fl.StringVar(&o.Config, "config", "", "configuration `FILE` with rules or an llm section")
	fl.StringArrayVar(&o.Rules, "rules", nil, "rule `FILE` or glob; may be repeated")
	fl.StringVar(&o.Provider, "provider", "", "`NAME` of the model's provider: anthropic, openai or ollama")
	group.Values(c, "provider", "anthropic", "openai", "ollama")
	fl.StringVar(&o.Model, "model", "", "`NAME` of the model")
	fl.StringVar(&o.BaseURL, "base-url", "", "`URL` of a service with the provider's protocol")
	fl.StringArrayVar(&o.Labels, "label", nil, "`NAME` of a label that the model may add; may be repeated (default: any)")
	fl.DurationVar(&o.Window, "window", issueagent.DefaultWindow, "how long an issue is skipped after a reply; 0: never")
	fl.DurationVar(&o.Wait, "wait", 30*time.Second, "how long the harness may hold a request for a task")
	fl.IntVar(&o.Concurrency, "concurrency", 1, "tasks at a time")
	fl.BoolVar(&o.Sync, "sync", false, "also answer requests that contain a whole task (a harness without a queue sends them)")
	fl.StringVar(&o.Version, "agent-version", "", "`NAME` of this version of the agent, at most 64 letters, digits, '.', '_' and '-'; harnesses measure each version anew")
	c.MarkFlagsMutuallyExclusive("rules", "model")
	return c
}

// Run serves the agent until ctx ends.
func Run(ctx context.Context, o Options) error {
	log := slog.New(slog.NewTextHandler(o.Env.Stderr, nil))
	decider, err := decider(ctx, o, log)
	if err != nil {
		return err
	}
	if o.Concurrency < 1 {
		return command.Usagef("--concurrency: want at least 1, got %d", o.Concurrency)
	}
	if o.Version != "" && protocol.ParseAgentVersion(o.Version) != o.Version {
		return command.Usagef("--agent-version: want at most 64 letters, digits, '.', '_' and '-', got %q", text.Shorten(o.Version, text.Quoted))
	}
	for _, host := range o.Hosts {
		if !address.ValidHost(bare(host)) {
			return command.Usagef("--host: want a name or an IP address, without a port, got %q", host)
		}
	}
	if host, port, err := net.SplitHostPort(o.Listen); err != nil || host != "" && !address.ValidHost(host) || port != "0" && (port == "" || !address.ValidPort(port)) {
		return command.Usagef("--listen: want an address such as 127.0.0.1:8000, got %q", o.Listen)
	}
	var ready atomic.Bool
	var worker *agent.Worker
	handler := agent.HandlerOptions{Ready: ready.Load, Version: o.Version}
	if harness := o.Env.Getenv("FOREMAN_HARNESS_URL"); harness != "" {
		worker, err = newWorker(o, harness, agent.WorkerOptions{
			Decide: decider.Decide, Concurrency: o.Concurrency, Log: log,
			Drained: func() { ready.Store(true); log.Info("no task is pending") },
		})
		if err != nil {
			return command.Usage(err)
		}
		handler.Nudge = worker.Nudge
	}
	if worker == nil || o.Sync {
		handler.Decide = limited(o.Concurrency, decider.Decide)
	}
	ready.Store(worker == nil)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return command.Failed(fmt.Errorf("listen: %w", err))
	}
	fmt.Fprintf(o.Env.Stderr, "foreman: the agent listens on http://%s\n", l.Addr())
	return serve(ctx, l, guarded(agent.NewHandler(handler), o.names()), worker)
}

// names returns the hosts other than this machine's loopback names under which the agent answers.
func (o Options) names() []string {
	var names []string
	for _, host := range o.Hosts {
		names = append(names, bare(host))
	}
	if host, _, err := net.SplitHostPort(o.Listen); err == nil {
		names = append(names, host)
	}
	if u, err := url.Parse(o.Env.Getenv("AGENT_URL")); err == nil {
		names = append(names, u.Hostname())
	}
	return slices.DeleteFunc(names, func(name string) bool {
		addr, err := netip.ParseAddr(name)
		return name == "" || err == nil && addr.IsUnspecified()
	})
}

// bare returns a host without the brackets of an IPv6 address.
func bare(host string) string { return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]") }

// guarded answers only requests for a loopback name or one of names. A malicious site can point its
// host name at this machine. Its visitors' browsers would then send the site's requests here. The
// health reveals nothing, and probes ask for it under an address that is not known before.
func guarded(next http.Handler, names []string) http.Handler {
	allowed := func(host string) bool {
		return address.Loopback(host) || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, bare(host)) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" && !access.Addressed(r, allowed) {
			http.Error(w, fmt.Sprintf("the agent does not answer under the host %.100q or for a page of another host; start it with --host NAME", r.Host), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limited limits how many tasks are decided on at a time; the others wait.
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

// newWorker returns a worker for the harness of the environment.
func newWorker(o Options, harness string, w agent.WorkerOptions) (*agent.Worker, error) {
	env := o.Env
	self := env.Getenv("AGENT_URL")
	if self == "" {
		return nil, errors.New("FOREMAN_HARNESS_URL is set, but AGENT_URL is not: set it to the address of this agent in the harness's configuration")
	}
	client, err := agent.NewClient(agent.ClientOptions{
		URL: harness, AgentURL: self, Token: env.Getenv("FOREMAN_HARNESS_TOKEN"), Wait: o.Wait, UserAgent: env.UserAgent(), Version: o.Version,
	})
	if err != nil {
		return nil, err
	}
	w.Client = client
	return agent.NewWorker(w)
}

// serve runs the HTTP server and the worker until ctx ends or one of them fails.
func serve(ctx context.Context, l net.Listener, h http.Handler, worker *agent.Worker) error {
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

// decider returns the agent that the options describe.
func decider(ctx context.Context, o Options, log *slog.Logger) (*issueagent.Agent, error) {
	cfg, err := configuration(ctx, o)
	if err != nil {
		return nil, err
	}
	options := issueagent.Options{Labels: o.Labels, Window: o.Window, Now: o.Env.Now, Log: log}
	if o.Window <= 0 {
		options.Window = -1
	}
	backend := protocol.LLMBackendRef{Provider: cmp.Or(o.Provider, cfg.LLM.Provider), Model: cmp.Or(o.Model, cfg.LLM.Model)}
	switch {
	case o.Model == "" && o.Provider == "" && cfg.Rules.Len() > 0:
		options.Rules = cfg
	case backend.Provider == "" || backend.Model == "":
		return nil, command.Usagef("choose how the agent decides: --rules FILE, or --provider NAME and --model NAME")
	default:
		settings := cfg.Model
		settings.BaseURL = cmp.Or(o.BaseURL, settings.BaseURL)
		settings.Timeout = cmp.Or(settings.Timeout, 2*time.Minute) // llm.DefaultTimeout is too short for a triage
		client, err := model.New(o.Env, backend, settings, model.Key(o.Env.Getenv, backend.Provider, ""))
		if err != nil {
			return nil, command.Usage(err)
		}
		options.Model = client
	}
	agent, err := issueagent.New(options)
	if err != nil {
		return nil, command.Usage(err)
	}
	return agent, nil
}

// configuration loads the files that the options name, which may be none.
func configuration(ctx context.Context, o Options) (*config.Config, error) {
	dir, err := o.Env.WorkDir()
	if err != nil {
		return nil, err
	}
	if o.Config == "" && len(o.Rules) == 0 {
		return &config.Config{}, nil
	}
	cfg, err := config.Load(ctx, files.Anywhere{Dir: dir}, config.Spec{Path: o.Config, Rules: o.Rules, Getenv: o.Env.Getenv})
	if problems, ok := errors.AsType[yamlfile.Problems](err); ok {
		return nil, command.Usagef("%s", problems.Error())
	}
	if err != nil {
		return nil, command.Usage(err)
	}
	if cfg == nil {
		cfg = &config.Config{}
	}
	return cfg, nil
}
