package queue

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

// A filterFlags are the flags that select tasks. Its keys are those of package filter.
type filterFlags struct {
	command *cobra.Command
	keys    []string
}

// flagOf returns the flag of a key.
func flagOf(key string) string {
	switch key {
	case "reason":
		return "--reason-like"
	case "q":
		return "the search text"
	}
	return "--" + key
}

// flagName returns the name of the flag of a key.
func flagName(key string) string { return strings.TrimPrefix(flagOf(key), "--") }

func addFilter(c *cobra.Command) filterFlags {
	f := filterFlags{command: c}
	for _, flag := range []struct{ key, help string }{
		{"state", "only tasks in this `state`: pending, claimed, completed, done or failed"},
		{"agent", "only tasks of the agent with this `address`"},
		{"repo", "only tasks of this repository, `owner/name`"},
		{"issue", "only tasks of the issue with this `number`"},
		{"id", "only the task with this `ID`, or those of the webhook's delivery with it"},
		{"title", "only tasks whose issue has all these `words` in its title"},
		{"reason", "only tasks whose reason contains this `text`"},
		{"since", "only tasks enqueued since this `time`: 2026-11-28, 2026-11-28T09:30:00Z, or 24h for a day ago"},
		{"until", "only tasks enqueued before this `time`, as in --since"},
		{"before", "only tasks older than the one with this `number`, at which an earlier command ended"},
	} {
		c.Flags().String(flagName(flag.key), "", flag.help)
		f.keys = append(f.keys, flag.key)
	}
	states := []string{}
	for _, s := range queue.States() {
		states = append(states, string(s))
	}
	group.Values(c, "state", states...)
	return f
}

// set reports whether any flag is given. An empty value is a mistake that parse reports: it may come from a
// variable of a shell that is not set.
func (f filterFlags) set() bool {
	for _, key := range f.keys {
		if f.command.Flags().Lookup(flagName(key)).Changed {
			return true
		}
	}
	return false
}

// parse returns the filter. text is what a person searches for, and may be empty. The address of GitHub is
// not known here: text may name issues on github.com.
func (f filterFlags) parse(env process.Env, text string) (queue.Filter, error) {
	v := url.Values{}
	for _, key := range f.keys {
		if flag := f.command.Flags().Lookup(flagName(key)); flag.Changed {
			v.Set(key, flag.Value.String())
		}
	}
	if text != "" {
		v.Set("q", text)
	}
	if agent := v.Get("agent"); agent != "" {
		if _, err := address.Canonical(agent); err != nil {
			return queue.Filter{}, fmt.Errorf("--agent: %w", err)
		}
	}
	return filter.Parser{Now: env.Now, Name: flagOf}.ParseAll(v)
}
