package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// A Spec says where a configuration is read.
type Spec struct {
	Path string // of the file; rule files that it includes are named from its folder
	// Lookup returns an environment variable, and whether it is set; nil: none is.
	Lookup func(string) (string, bool)
	Home   string // what "~" stands for; empty: paths with it are refused
	// Database says what is wrong with the URL of a PostgreSQL database, and repeats none of
	// it; nil: nothing is.
	Database func(url string) error
}

// Load reads a configuration. Its mistakes come together, as [yamlfile.Problems]; no
// error repeats a line's value outside of the rules and the policy.
func Load(ctx context.Context, spec Spec) (*Settings, error) {
	if spec.Lookup == nil {
		spec.Lookup = func(string) (string, bool) { return "", false }
	}
	dir, name := filepath.Split(spec.Path)
	l := &loading{Spec: spec, s: defaults()}
	cfg, err := config.Load(ctx, folder(dir), config.Spec{
		Path: name, Split: l.split,
		Getenv: func(name string) string { v, _ := spec.Lookup(name); return v },
	})
	if err != nil {
		return nil, l.readable(dir, name, err)
	}
	s := l.s
	s.Runner, s.Warnings = cfg, l.clean(dir, name, cfg.Warnings)
	s.Warnings = append(s.Warnings, unscheduled(name, cfg)...)
	s.Runner.LLM = protocol.LLMBackendRef{Provider: s.LLM.Provider, Model: s.LLM.Model}
	return s, nil
}

// unscheduled warns of rules that wait for a scheduled run: a server makes none.
func unscheduled(file string, cfg *config.Config) (list yamlfile.Problems) {
	if len(cfg.Rules.Scans()) > 0 {
		list = append(list, yamlfile.Problem{File: file, Warning: true, Msg: "there are rules with a scan, which only scheduled runs of the action look at: this server never asks them"})
	}
	if cfg.Rules.ClosesLater() {
		list = append(list, yamlfile.Problem{File: file, Warning: true, Msg: "there are rules that close an issue after a time, which only scheduled runs of the action do: this server refuses to"})
	}
	return list
}

// defaults returns what counts where a file says nothing.
func defaults() *Settings {
	return &Settings{
		Identity: Identity{Timeout: 30},
		Polling:  Polling{Interval: 60, FirstRun: 100, Maintainers: "skip", Enabled: true},
		Queue: Queue{
			ClaimTimeout: 300, MaxRetries: 3, MaxDrains: 8, DrainTimeout: 120, DrainInterval: 10, RequeueInterval: 60,
			Retention: 30 * day, MaxTasks: 100, WritesPerMinute: 80, WritesPerHour: 500,
		},
		Server: Server{Host: "127.0.0.1", Port: 8000},
	}
}

// A loading is one configuration on its way in.
type loading struct {
	Spec
	s *Settings
	// open are the lines of which an error may show the text: those of a runner's sections.
	open []span
}

type span struct{ from, to int } // lines, from 1; to is the first one after it

// split decodes the server's sections and returns those of a runner.
func (l *loading) split(f *yamlfile.File, root *yaml.Node) *yaml.Node {
	l.open = openLines(root)
	d := document{Identity: l.s.Identity, Polling: l.s.Polling, Queue: l.s.Queue, Server: l.s.Server}
	f.Decode(l.expand(f, root), &d)
	l.s.Identity, l.s.Polling, l.s.Queue, l.s.Memory = d.Identity, d.Polling, d.Queue, d.Memory
	l.s.Server, l.s.Telemetry, l.s.Repos = d.Server, d.Telemetry, d.Repos
	if d.LLM != nil {
		l.s.LLM = *d.LLM
	}
	newChecker(f, root, l).check()
	return left(root)
}

// runnersKeys are the sections that a runner decodes.
func runnersKeys() []string {
	return []string{"version", "mode", "policy", "limits", "labels", "rules", "forms", "tables", "tests", "include"}
}

// left returns the mapping of a runner's sections. A server's file need not say which
// version it has.
func left(root *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: root.Line, Column: root.Column}
	versioned := false
	for k, v := range pairs(root) {
		if slices.Contains(runnersKeys(), k.Value) {
			out.Content = append(out.Content, k, v)
			versioned = versioned || k.Value == "version"
		}
	}
	if !versioned {
		out.Content = append(out.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "version", Line: root.Line, Column: root.Column},
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1", Line: root.Line, Column: root.Column})
	}
	return out
}

// pairs goes over the keys and values of a mapping; of another node there are none.
func pairs(n *yaml.Node) func(func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// openLines returns the lines on which a runner's sections stand alone.
func openLines(root *yaml.Node) []span {
	var list []span
	last := false // whether the section before was a runner's
	for k := range pairs(root) {
		if n := len(list); last && n > 0 {
			list[n-1].to = k.Line
		}
		if last = slices.Contains(runnersKeys(), k.Value); last {
			list = append(list, span{k.Line, int(^uint(0) >> 1)})
		}
	}
	return list
}

// clean takes out of problems what may be a secret: the text of a line behind its key.
func (l *loading) clean(dir, main string, ps yamlfile.Problems) yamlfile.Problems {
	for i, p := range ps {
		shown := p.File != main || slices.ContainsFunc(l.open, func(s span) bool { return s.from <= p.Line && p.Line < s.to })
		if !shown {
			key, _, ok := strings.Cut(p.Source, ":")
			if !ok {
				key = ""
			}
			if ps[i].Source = key; ok {
				ps[i].Source += ": …"
			}
		}
		ps[i].File = filepath.Join(dir, p.File)
	}
	return ps
}

// readable makes an error of the file one that names it as the user did.
func (l *loading) readable(dir, main string, err error) error {
	if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
		return l.clean(dir, main, ps)
	}
	if errors.Is(err, config.ErrNotFound) {
		return fmt.Errorf("read the configuration %s: %w", l.Path, err)
	}
	return fmt.Errorf("read the configuration: %w", err)
}

// folder reads files below a directory, which may be empty: the working directory.
type folder string

// Read returns a file of at most the size that a configuration may have.
func (d folder) Read(_ context.Context, name string) ([]byte, error) {
	file, err := os.Open(filepath.Join(string(d), filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, yamlfile.MaxSize+1))
}

// Glob returns the files that match, sorted.
func (d folder) Glob(_ context.Context, pattern string) ([]string, error) {
	dir := string(d)
	if dir == "" {
		dir = "."
	}
	names, err := fs.Glob(os.DirFS(dir), pattern)
	slices.Sort(names)
	return names, err
}
