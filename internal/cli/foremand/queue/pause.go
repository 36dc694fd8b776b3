package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/assembly"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

const pauseHelp = `Holds tasks until foremand resume: of everything, of an agent, of the tasks that the rules
decide on, or of a repository. Events are still accepted and queued; no agent is asked, and
no decision is carried out. Claims in progress can be completed. A decision in progress
makes no further write, and continues after the pause. --list prints the pauses.

The command works on the database, beside a server that runs or without one. A pause holds
in all servers on the database, and after restarts.`

const resumeHelp = `Ends the pause of everything, of an agent, of the rules, or of a repository. Other pauses
may still hold the tasks: foremand pause --list prints them. Resuming a scope that is not
paused succeeds and changes nothing.`

// pauseOptions are all that the commands pause and resume depend on.
type pauseOptions struct {
	sharedOptions

	Everything, Rules bool
	Agent, Repo       string
	Reason            string
	List              bool
}

// PauseCommand returns the command pause.
func PauseCommand(env process.Env) *cobra.Command {
	o := &pauseOptions{sharedOptions: sharedOptions{Env: env}}
	c := &cobra.Command{
		Use: "pause", Short: "Hold tasks of everything, an agent or a repository until foremand resume", Long: pauseHelp, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runPause(c.Context(), *o) },
	}
	o.flags(c)
	c.Flags().StringVar(&o.Reason, "reason", "", "why: a `text` for people")
	c.Flags().BoolVar(&o.List, "list", false, "print the pauses, and change nothing")
	return c
}

// ResumeCommand returns the command resume.
func ResumeCommand(env process.Env) *cobra.Command {
	o := &pauseOptions{sharedOptions: sharedOptions{Env: env}}
	c := &cobra.Command{
		Use: "resume", Short: "End a pause", Long: resumeHelp, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runResume(c.Context(), *o) },
	}
	o.flags(c)
	return c
}

func (o *pauseOptions) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&o.Config, "config", "", "the `file` with the configuration")
	fl.StringVar(&o.Queue, "queue-db", "", "`file` of the queue, or postgres://…")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON document, and nothing else")
	fl.BoolVar(&o.Everything, "everything", false, "all tasks")
	fl.BoolVar(&o.Rules, "rules", false, "tasks that the rules decide on")
	fl.StringVar(&o.Agent, "agent", "", "tasks of the agent with this `URL`")
	fl.StringVar(&o.Repo, "repo", "", "tasks of this repository, `OWNER/NAME`")
}

// scope returns the scope that the flags name.
func (o *pauseOptions) scope() (queue.Scope, error) {
	var named []queue.Scope
	add := func(set bool, s queue.Scope) {
		if set {
			named = append(named, s)
		}
	}
	add(o.Everything, queue.Scope{Kind: queue.ScopeEverything})
	add(o.Rules, queue.Scope{Kind: queue.ScopeRules})
	add(o.Agent != "", queue.Scope{Kind: queue.ScopeAgent, Name: o.Agent})
	add(o.Repo != "", queue.Scope{Kind: queue.ScopeRepo, Name: o.Repo})
	if len(named) != 1 {
		return queue.Scope{}, errors.New("want exactly one of --everything, --rules, --agent and --repo")
	}
	s, err := filter.Scope(named[0])
	if err != nil && s.Kind == queue.ScopeAgent {
		err = fmt.Errorf("--agent: %w", err)
	}
	return s, err
}

// A pauseRow is a pause in the printed JSON. The format is stable: new versions only add fields.
type pauseRow struct {
	Scope    queue.ScopeKind `json:"scope"`
	Name     string          `json:"name,omitempty"`
	By       string          `json:"by"`
	Since    time.Time       `json:"since"`
	Reason   string          `json:"reason"`
	Held     int             `json:"held"`
	AtLeast  bool            `json:"held_at_least,omitempty"` // there may be more tasks than Held
	Claimed  int             `json:"claimed"`
	Draining int             `json:"draining"`
}

func rowOf(p queue.Pause) pauseRow {
	return pauseRow{p.Scope.Kind, p.Scope.Name, p.By, p.At, p.Reason, p.Held, p.Held >= queue.MaxHeld, p.Claimed, p.Draining}
}

// held returns the number of tasks that a pause holds, for people.
func held(p queue.Pause) string {
	if p.Held >= queue.MaxHeld {
		return "at least " + format.Count(p.Held, "task")
	}
	return format.Count(p.Held, "task")
}

func runPause(ctx context.Context, o pauseOptions) error {
	if o.List {
		if o.Everything || o.Rules || o.Agent+o.Repo+o.Reason != "" {
			return errors.New("--list: want no other flag of the command")
		}
		return o.with(ctx, func(q database.Store) error {
			list, err := q.ListPauses(ctx, true)
			if err != nil {
				return err
			}
			return printPauses(o, list)
		})
	}
	s, err := o.scope()
	if err != nil {
		return err
	}
	by := o.by("pause")
	return o.with(ctx, func(q database.Store) error {
		p, already, err := q.Pause(ctx, s, by, o.Reason)
		if err != nil {
			return err
		}
		warning, err := o.warning(ctx, q, s)
		if err != nil {
			return err
		}
		if o.JSON {
			document := map[string]any{"version": 1, "already_paused": already, "pause": rowOf(p)}
			if warning != "" {
				document["warning"] = warning
			}
			return printJSON(o.Env.Stdout, document)
		}
		if warning != "" {
			fmt.Fprintf(o.Env.Stderr, "Warning: %s: %s\n", sanitize.Line(s.String()), warning)
		}
		was := "paused"
		if already {
			was = fmt.Sprintf("already paused since %s by %s", p.At.UTC().Format(time.DateTime), sanitize.Line(p.By))
		}
		fmt.Fprintf(o.Env.Stdout, "%s: %s; %s held; in progress: %s, %s\n", was, sanitize.Line(p.Scope.String()), held(p),
			format.Count(p.Claimed, "claim"), format.Count(p.Draining, "decision"))
		return nil
	})
}

// warning returns why a pause may hold nothing: the configuration does not name the scope or, if it cannot
// be read here, the queue has no task of the scope. An operator's shell may lack the secrets of the server.
func (o pauseOptions) warning(ctx context.Context, q database.Store, s queue.Scope) (string, error) {
	if o.Config != "" {
		if c, err := deployment.Load(ctx, o.Env, o.Config); err == nil {
			return assembly.Configured(c).Warning(s), nil
		}
	}
	f := queue.Filter{Limit: 1}
	switch s.Kind {
	case queue.ScopeAgent:
		f.Agent = s.Name
	case queue.ScopeRepo:
		f.Repo = s.Name
	case queue.ScopeEverything, queue.ScopeRules:
		return "", nil
	}
	page, err := q.Search(ctx, f)
	if err != nil || len(page.Tasks) > 0 {
		return "", err
	}
	return "the queue has no task of it; compare its name with the configuration", nil
}

func runResume(ctx context.Context, o pauseOptions) error {
	s, err := o.scope()
	if err != nil {
		return err
	}
	return o.with(ctx, func(q database.Store) error {
		p, found, err := q.Resume(ctx, s)
		switch {
		case err != nil:
			return err
		case o.JSON:
			document := map[string]any{"version": 1, "resumed": found}
			if found {
				document["pause"] = rowOf(p)
			}
			return printJSON(o.Env.Stdout, document)
		case !found:
			fmt.Fprintf(o.Env.Stdout, "not paused: %s\n", sanitize.Line(s.String()))
		default:
			fmt.Fprintf(o.Env.Stdout, "resumed: %s; %s held since %s\n", sanitize.Line(p.Scope.String()), held(p), p.At.UTC().Format(time.DateTime))
		}
		return nil
	})
}

// printPauses prints the pauses as a table.
func printPauses(o pauseOptions, list []queue.Pause) error {
	if o.JSON {
		rows := []pauseRow{}
		for _, p := range list {
			rows = append(rows, rowOf(p))
		}
		return printJSON(o.Env.Stdout, map[string]any{"version": 1, "pauses": rows})
	}
	if len(list) == 0 {
		fmt.Fprintln(o.Env.Stdout, "nothing is paused")
		return nil
	}
	w := tabwriter.NewWriter(o.Env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PAUSED\tSINCE\tBY\tHELD\tREASON")
	for _, p := range list {
		n := strconv.Itoa(p.Held)
		if p.Held >= queue.MaxHeld {
			n = "≥ " + n
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", sanitize.Line(p.Scope.String()), p.At.UTC().Format(time.DateTime), cmp.Or(sanitize.Line(p.By), "-"), n, sanitize.Line(p.Reason))
	}
	return w.Flush()
}
