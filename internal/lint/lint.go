package lint

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Check returns the problems of a configuration in the repository, unsorted. files are the files
// that the configuration was read from.
func Check(cfg *config.Config, files []*yamlfile.File, repo *Repository) yamlfile.Problems {
	c := checker{config: cfg, repo: repo, found: repo.Warnings, seen: map[yamlfile.Problem]bool{}}
	for _, f := range files {
		c.settings(f)
	}
	c.uses = append(c.uses, (*ruleset.Set)(cfg.Rules).Rules().Labels()...)
	c.uses = append(c.uses, (*ruleset.Condition)(cfg.Agent.When).Labels()...)
	c.patterns()
	c.names()
	c.labels()
	c.refused()
	for _, p := range (*ruleset.Set)(cfg.Rules).Rules().Suspicious(repo.isFolder) {
		c.warn(p, "%s", p.Message)
	}
	c.evidence(files)
	c.workflows()
	checkRuns(&c, files)
	c.forms()
	return c.found
}

// A checker compares one configuration with one repository.
type checker struct {
	config *config.Config
	repo   *Repository
	uses   []ruleset.LabelUse
	// globs are the patterns in the policy's lists of labels.
	globs []policyGlob
	// unusual are the places of patterns with characters that are special elsewhere.
	unusual map[yamlfile.Problem]bool
	agent   *yamlfile.Problem // the place of the section agent; nil: there is none
	// keepsOpen is true if a file has allow_close: false.
	keepsOpen bool
	found     yamlfile.Problems
	seen      map[yamlfile.Problem]bool
	work      int // tokens of conditions that were evaluated
}

// A policyGlob is an entry of policy.labels.
type policyGlob struct {
	list, glob string
	place      yamlfile.Problem
}

const maxFound = 1000

// report records a problem at a place, unless it is already recorded.
func (c *checker) report(at yamlfile.Problem, warning bool, format string, args ...any) {
	at.Message, at.Warning = sanitize.Log(fmt.Sprintf(format, args...)), warning
	if c.seen[at] || len(c.found) >= maxFound {
		return
	}
	c.seen[at] = true
	c.found = append(c.found, at)
}

func (c *checker) warn(at yamlfile.Problem, format string, args ...any) {
	c.report(at, true, format, args...)
}

// settings collects the labels that a file names outside of its rules.
func (c *checker) settings(f *yamlfile.File) {
	for _, labels := range []*yaml.Node{yamlfile.Child(f.Root(), "policy", "labels"), yamlfile.Child(f.Root(), "labels")} {
		for _, list := range []string{"allow", "deny"} {
			n := yamlfile.Child(labels, list)
			if n == nil {
				continue
			}
			for _, item := range n.Content {
				c.globs = append(c.globs, policyGlob{list, item.Value, f.At(item, 1, 1, "")})
			}
		}
	}
	c.retention(f)
	c.keepsOpen = c.keepsOpen || scalar(yamlfile.Child(f.Root(), "policy", "allow_close")) == "false"
	agent := yamlfile.Child(f.Root(), "agent")
	if agent == nil {
		return
	}
	place := f.At(agent, 1, 1, "")
	c.agent = &place
	if n := yamlfile.Child(agent, "on_failure", "add_label"); n != nil {
		c.uses = append(c.uses, ruleset.LabelUse{Label: n.Value, Verb: ruleset.LabelAdded, Place: f.At(n, 1, 1, "")})
	}
}

// artifactDays is for how many days GitHub keeps an artifact unless an administrator sets another number. In
// a public repository it is the most.
const artifactDays = 90

// retention warns if outcomes are judged after the artifact with the record has expired.
func (c *checker) retention(f *yamlfile.File) {
	keys := []string{"judge_after", "shadow_period"}
	if c.config.Mode == config.ModeShadow {
		keys = keys[1:]
	}
	for _, key := range keys {
		n := yamlfile.Child(f.Root(), "policy", key)
		if n == nil {
			continue
		}
		if store := c.config.Memory.Store; (store == "" || store == "artifact") && c.config.JudgeTime() >= artifactDays*24*time.Hour {
			c.warn(f.At(n, 1, 1, ""), "policy.%s: GitHub deletes the artifact with the record of an issue after %d days, or when the repository says, so nothing would be judged; write a shorter time, such as 30d",
				key, artifactDays)
		}
		return // the other one has no effect
	}
}

// nearest returns a hint with the known name that was probably meant.
func nearest(name string, known []string) string {
	if meant := yamlfile.Suggest(name, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", cut(meant))
	}
	return ""
}

const maxQuoted = 60 // characters of an untrusted name in a message

func cut(s string) string { return text.Shorten(s, maxQuoted) }

// prefixes returns globs for groups of labels with a common prefix, such as kind/*.
func prefixes(labels []string) []string {
	var list []string
	for _, l := range labels {
		if i := strings.IndexAny(l, "/:"); i > 0 {
			list = append(list, l[:i+1]+"*")
		}
	}
	return list
}
