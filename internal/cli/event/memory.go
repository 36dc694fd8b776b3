package event

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/cli/model"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/summarize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/runner"
)

// A MemoryPlace completes a configuration that does not say where to keep the memory.
type MemoryPlace struct {
	Dir    string // base of relative paths
	Store  string // used if the configuration names none; empty: off
	Branch string // the default branch, for events that do not name it; may be empty
}

// MemoryPath is the folder of the file store, if the configuration names none.
const MemoryPath = ".foreman/memory"

func (n *notes) warn(format string, args ...any) {
	n.warnings = append(n.warnings, fmt.Sprintf(format, args...))
}

// remembered returns the memory of the configuration, or else that of the settings. A memory that
// cannot be opened counts as empty, because the timeline replaces it.
func remembered(s Settings, c config.Config, asks bool) (runner.Memory, notes) {
	var n notes
	asked := c.Memory.Store != ""
	c.Memory.Store = cmp.Or(c.Memory.Store, s.Memory.Store)
	m, err := openMemory(s, c.Memory)
	if err != nil {
		const text = "memory: %v; using the issue's timeline instead of the record, and storing no record"
		if asked {
			n.warn(text, err)
		} else if s.Log != nil {
			s.Log.Info(fmt.Sprintf(text, err)) //nolint:sloglint // people read this line in the log of the action
		}
		m = runner.Memory{Store: nowhere{}, Discards: true}
	} else if c.Memory.Store == "artifact" {
		n.needs = append(n.needs, "actions: read")
	}
	m.Implicit = !asked && !asks
	if c.Memory.Store == "off" && s.Overrides.Memory.Store == "off" && (*ruleset.Set)(c.Rules).Rules().UndoesByMemory() {
		n.warn("the memory is off (input memory), and rules with else_undo can revert nothing on issues; choose artifact, cache or file")
	}
	if c.Memory.Path != "" && c.Memory.Store != "file" {
		n.warn("memory.path (input memory-path) is for the store file, and the store is %s", c.Memory.Store)
	}
	describe, more := summarizer(s, c, m.Store != nil, asks)
	m.Summarize = describe
	return m, n.with(more)
}

// openMemory opens the store that the configuration names, and returns a zero memory if it names
// none. After an error the memory must not be used.
func openMemory(s Settings, c config.Memory) (runner.Memory, error) {
	switch c.Store {
	case "file":
		dir := process.Below(s.Memory.Dir, cmp.Or(c.Path, MemoryPath))
		if s.Event.OnPull() && !s.Local && below(s.Memory.Dir, dir) {
			return runner.Memory{}, errors.New("the folder is in the workspace, and the checkout of a pull request is its author's; " +
				"name a folder outside of it (memory.path, or the input memory-path)")
		}
		store, err := file.Open(dir)
		return runner.Memory{Store: store, Agenda: store, Journal: store}, err
	case "artifact":
		store, err := results.NewArtifact(service(s))
		// Only artifacts of runs on the default branch count. A run for a pull request is on its
		// author's branch, so it only reads.
		return runner.Memory{Store: store, Agenda: store, Batch: store, LoadCalls: 2, Shared: true, ReadOnly: s.Event.Pull != nil}, err
	case "cache":
		store, err := results.NewCache(service(s))
		return runner.Memory{Store: store, Shared: true}, err
	}
	return runner.Memory{}, nil
}

// below reports whether path equals dir or is inside it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err != nil || filepath.IsLocal(rel)
}

// nowhere is a store that keeps nothing.
type nowhere struct{}

func (nowhere) Load(context.Context, string, int) (memory.Record, error) {
	return memory.Record{}, memory.ErrNotFound
}

func (nowhere) Save(context.Context, memory.Record) error { return nil }

// service returns the options of the stores in the results service, from the variables
// that the runner sets for a container action.
func service(s Settings) results.Options {
	id, _ := strconv.ParseInt(s.Env.Getenv("GITHUB_REPOSITORY_ID"), 10, 64) // a missing id is 0, which the stores refuse with the variable's name
	return results.Options{
		ResultsURL:    s.Env.Getenv("ACTIONS_RESULTS_URL"),
		CacheURL:      s.Env.Getenv("ACTIONS_CACHE_URL"),
		RuntimeToken:  s.Env.Getenv("ACTIONS_RUNTIME_TOKEN"),
		CacheMode:     s.Env.Getenv("ACTIONS_CACHE_MODE"),
		ServerURL:     s.Env.Getenv("GITHUB_SERVER_URL"),
		Repo:          s.Event.FullRepo(),
		RepositoryID:  id,
		DefaultBranch: cmp.Or(s.Event.Branch, s.Memory.Branch),
		APIURL:        s.Access.APIURL,
		Token:         s.Access.Token,
		Now:           s.Env.Now,
		Sleep:         s.Env.Sleep,
		Mask:          s.Mask,
		Log:           s.Log,
	}
}

// A describe function renders a record for the agent.
type describe func(context.Context, memory.Record) (text string, ok bool)

// summarizer returns the function by which a model adds its text to the agent's summary; nil unless
// memory.summary is "model". If the model is unavailable, the agent gets the facts alone.
func summarizer(s Settings, c config.Config, remembers, asks bool) (describe, notes) {
	var n notes
	byModel := c.Memory.Summary == "model"
	switch {
	case !byModel && (s.Overrides.ModelKey != "" || c.Model != (config.Model{})):
		n.warn("llm.base_url, timeout, max_tokens and the input llm-key are for memory.summary: model (input memory-summary), which is not set")
	case byModel && !remembers:
		n.warn("memory.summary is model, and the memory is off: the agent gets no summary")
	case byModel && asks:
		c.Model.Timeout = cmp.Or(c.Model.Timeout, summarize.DefaultTimeout)
		key := model.Key(s.Env.Getenv, c.LLM.Provider, s.Overrides.ModelKey)
		if s.Mask != nil {
			s.Mask(string(key))
		}
		client, err := model.New(s.Env, c.LLM, c.Model, key)
		if err != nil {
			n.warn("memory.summary: %s; see the inputs llm-*, or llm in the configuration; the agent gets the facts alone",
				strings.ReplaceAll(err.Error(), "\n", "; "))
			return summarize.Summarizer{}.Summarize, n
		}
		// The client's own error is more precise than that of the summarizer.
		return summarize.Summarizer{Model: client, Timeout: c.Model.Timeout + time.Second, Log: s.Log}.Summarize, n
	}
	return nil, n
}
