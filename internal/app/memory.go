package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/runner"
)

// remember adds the memory that the configuration asks for, or else the job's own. One
// that is not to be had is as good as empty: what it would tell is on the issue.
func (j job) remember(o *runner.Options, res *result) {
	c := o.Config.Memory
	asked := c.Store != ""
	c.Store = cmp.Or(c.Store, j.store)
	m, err := j.memory(c)
	switch {
	case err != nil && asked:
		res.warn("memory: %v; nothing is kept, and what was done before is read off the issue", err)
		m = runner.Memory{Store: nowhere{}, Discards: true}
	case err != nil:
		j.log("memory: %v; nothing is kept, and what was done before is read off the issue", err)
		m = runner.Memory{Store: nowhere{}, Discards: true}
	case c.Store == "artifact":
		res.needs = append(res.needs, "actions: read")
	}
	o.Memory, o.Memory.Implicit = m, !asked && o.Agent.Agent == nil
	if c.Store == "off" && j.override.memory.Store == c.Store && o.Config.Rules.Undoes() {
		res.warn("the memory is off (input memory), and rules with else_undo take back only what is remembered: nothing; choose artifact, cache or file")
	}
	if c.Path != "" && c.Store != "file" {
		res.warn("memory.path (input memory-path) is for the store file, and the store is %s", c.Store)
	}
	j.wording(o, res, m.Store != nil)
}

// wording lets a model word what the agent is told, if the configuration says so.
func (j job) wording(o *runner.Options, res *result, told bool) {
	model := o.Config.Memory.Summary == "model"
	switch {
	case !model && (j.override.modelKey != "" || o.Config.Model != (config.Model{})):
		res.warn("llm.base_url, timeout, max_tokens and the input llm-key are for memory.summary: model (input memory-summary), which is not set")
	case model && !told:
		res.warn("memory.summary is model, and the memory is off: the agent is told nothing")
	case model && o.Agent.Agent != nil:
		s, err := j.summarizer(*o.Config)
		if err != nil {
			res.warn("memory.summary: %s; see the inputs llm-*, or llm in the configuration; the agent is told the plain facts",
				strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		o.Memory.Summarize = s.Summarize
	}
}

// memory opens the store that the configuration names; zero when it names none. With an
// error the result is unusable.
func (j job) memory(c config.Memory) (runner.Memory, error) {
	switch c.Store {
	case "file":
		dir := c.Path
		if dir == "" {
			dir = ".foreman/memory"
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(j.dir, filepath.FromSlash(dir))
		}
		if j.event.Pull != nil && !j.local && below(j.dir, dir) {
			return runner.Memory{}, errors.New("the folder is in the workspace, and what is checked out for a pull request is its author's; " +
				"name a folder outside of it (memory.path, or the input memory-path)")
		}
		store, err := file.Open(dir)
		return runner.Memory{Store: store, Agenda: store, Journal: store}, err
	case "artifact":
		store, err := results.NewArtifact(j.results())
		return runner.Memory{Store: store, Agenda: store}, err
	case "cache":
		store, err := results.NewCache(j.results())
		return runner.Memory{Store: store}, err
	}
	return runner.Memory{}, nil
}

// below reports whether a path is a folder, or lies in it.
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

// summarizer returns what words the summary. With an error it is one that asks no model.
func (j job) summarizer(c config.Config) (memory.Summarizer, error) {
	timeout := cmp.Or(c.Model.Timeout, memory.DefaultSummaryTimeout)
	client, err := llm.New(llm.Options{
		Provider: c.LLM.Provider, Model: c.LLM.Model, BaseURL: c.Model.BaseURL, Key: j.modelKey(c.LLM.Provider),
		MaxTokens: c.Model.MaxTokens, Timeout: timeout, UserAgent: userAgent(),
		Now: j.app.Now, Sleep: j.app.Sleep,
	})
	if err != nil {
		return memory.Summarizer{}, err
	}
	// The client's own error says more than that of the summarizer.
	return memory.Summarizer{Model: client, Timeout: timeout + time.Second, Log: j.logger}, nil
}

// modelKey is the key of the model: the input, or a variable of the environment.
func (j job) modelKey(provider string) secret.Text {
	key := string(j.override.modelKey)
	names := map[string]string{llm.Anthropic: "ANTHROPIC_API_KEY", llm.OpenAI: "OPENAI_API_KEY"}
	for _, name := range []string{"FOREMAN_LLM_KEY", names[provider]} {
		if key == "" && name != "" {
			key = j.app.Getenv(name)
		}
	}
	if j.mask != nil {
		j.mask(key)
	}
	return secret.Text(key)
}

// results are the options of the stores in the results service, from the variables
// that the runner sets for a container action.
func (j job) results() results.Options {
	id, _ := strconv.ParseInt(j.app.Getenv("GITHUB_REPOSITORY_ID"), 10, 64) // 0 is refused by name
	return results.Options{
		ResultsURL:    j.app.Getenv("ACTIONS_RESULTS_URL"),
		CacheURL:      j.app.Getenv("ACTIONS_CACHE_URL"),
		RuntimeToken:  j.app.Getenv("ACTIONS_RUNTIME_TOKEN"),
		CacheMode:     j.app.Getenv("ACTIONS_CACHE_MODE"),
		ServerURL:     j.app.Getenv("GITHUB_SERVER_URL"),
		Repo:          j.event.FullRepo(),
		RepositoryID:  id,
		DefaultBranch: cmp.Or(j.event.Branch, j.branch),
		APIURL:        j.apiURL,
		Token:         j.token,
		Now:           j.app.Now,
		Sleep:         j.app.Sleep,
		Mask:          j.mask,
		Log:           j.logger,
	}
}
