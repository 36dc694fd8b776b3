package controller

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Profile describes the issues that suit a contributor, and the limits of a patch. "init" writes
// its keys.
type Profile struct {
	Languages            []string `json:"languages"`
	Topics               []string `json:"topics"`
	ContributionTypes    []string `json:"contributionTypes"` // values of [Types]
	Difficulty           string   `json:"difficulty"`        // a value of [Difficulties]
	MaxChangedFiles      int      `json:"maxChangedFiles"`
	MaxLinesChanged      int      `json:"maxLinesChanged"`
	RequireHumanApproval bool     `json:"requireHumanApproval"` // has no effect: a person must always approve
	DraftPRByDefault     bool     `json:"draftPrByDefault"`
	AIDisclosure         bool     `json:"aiDisclosure"`
}

// A Config is the configuration of a controller's folder. Only the keys of Profile are required.
type Config struct {
	Profile
	StaleAfterDays int      `json:"staleAfterDays"`
	ExcludeRepos   []string `json:"excludeRepos"`   // "owner/repo", or "owner/*"
	SensitivePaths []string `json:"sensitivePaths"` // globs
	ForkOwner      *string  `json:"forkOwner"`      // nil: the login of gh
	ForkName       string   `json:"forkName"`       // empty: that of the existing fork, else of the repository
	BranchPrefix   string   `json:"branchPrefix"`
	SignOff        bool     `json:"signOff"`    // the author signs the commit off (DCO)
	ScoreRules     string   `json:"scoreRules"` // a file beside config.json; empty: the built-in rules
	Sandbox        Sandbox  `json:"sandbox"`
	// Pipeline is set when a Builder edits the workspace and an Inspector judges the patch. Their
	// results are then required.
	Pipeline bool `json:"pipeline"`
}

// A Sandbox contains the limits of a validation's containers.
type Sandbox struct {
	Network               string            `json:"network"` // "setup-only" or "none"
	CPUs                  float64           `json:"cpus"`
	Memory                string            `json:"memory"` // in docker's format, such as "4g"
	PIDs                  int               `json:"pids"`
	CommandTimeoutSeconds int               `json:"commandTimeoutSeconds"`
	TotalTimeoutSeconds   int               `json:"totalTimeoutSeconds"`
	Images                map[string]string `json:"images"` // key: ecosystem
}

// CommandTimeout returns the longest time that one command may take.
func (s Sandbox) CommandTimeout() time.Duration {
	return time.Duration(s.CommandTimeoutSeconds) * time.Second
}

// TotalTimeout returns the longest time that a validation may take.
func (s Sandbox) TotalTimeout() time.Duration {
	return time.Duration(s.TotalTimeoutSeconds) * time.Second
}

// Types returns the kinds of contributions that a profile can name.
func Types() []string {
	return []string{"docs", "tests", "bug", "refactor", "ci", "typing", "i18n", "accessibility", "examples", "good-first"}
}

// Difficulties returns the difficulties that a profile can name.
func Difficulties() []string {
	return []string{"beginner", "beginner_to_intermediate", "intermediate", "advanced", "any"}
}

// Default returns the configuration that "init" writes, and the values of the other keys.
func Default() Config {
	return Config{
		Profile: Profile{
			Languages: []string{}, Topics: []string{}, ContributionTypes: []string{},
			Difficulty: "beginner_to_intermediate", MaxChangedFiles: 8, MaxLinesChanged: 300,
			RequireHumanApproval: true, DraftPRByDefault: true, AIDisclosure: true,
		},
		StaleAfterDays: 180,
		BranchPrefix:   "contribflow/",
		Sandbox: Sandbox{
			Network: "setup-only", CPUs: 2, Memory: "4g", PIDs: 512, CommandTimeoutSeconds: 600, TotalTimeoutSeconds: 1800,
		},
	}
}

// parseConfig reads a configuration. Keys that it does not know are ignored. The error names
// every mistake with its line and column.
func parseConfig(name string, data []byte) (Config, error) {
	config := Default()
	r := configReader{name: name, data: data, fields: config.fields()}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		offset := len(data)
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = int(e.Offset)
		}
		r.problem(offset, err.Error())
	} else {
		r.object("", bytes.IndexByte(data, whole[0]), whole)
	}
	if len(r.problems) > 0 {
		return Config{}, errors.Join(r.problems...)
	}
	return config, nil
}

// A field is a key of the configuration.
type field struct {
	path  string // such as "sandbox.cpus"
	into  any    // a pointer to its value
	check func() string
}

// fields returns the keys of the configuration. Each has a function that checks the value and
// returns the mistake, or an empty text.
func (c *Config) fields() []field {
	atLeastOne := func(n *int) func() string {
		return func() string { return unless(*n > 0, "want 1 or more, got %d", *n) }
	}
	return []field{
		{"languages", &c.Languages, nil},
		{"topics", &c.Topics, nil},
		{"contributionTypes", &c.ContributionTypes, func() string {
			for _, kind := range c.ContributionTypes {
				if !slices.Contains(Types(), kind) {
					return fmt.Sprintf("unknown type %q%s", text.Quote(kind), yamlfile.DidYouMean(kind, Types()))
				}
			}
			return ""
		}},
		{"difficulty", &c.Difficulty, func() string {
			return unless(slices.Contains(Difficulties(), c.Difficulty), "want one of %s, got %q", strings.Join(Difficulties(), ", "), text.Quote(c.Difficulty))
		}},
		{"maxChangedFiles", &c.MaxChangedFiles, atLeastOne(&c.MaxChangedFiles)},
		{"maxLinesChanged", &c.MaxLinesChanged, atLeastOne(&c.MaxLinesChanged)},
		{"requireHumanApproval", &c.RequireHumanApproval, nil},
		{"draftPrByDefault", &c.DraftPRByDefault, nil},
		{"aiDisclosure", &c.AIDisclosure, nil},
		{"staleAfterDays", &c.StaleAfterDays, atLeastOne(&c.StaleAfterDays)},
		{"excludeRepos", &c.ExcludeRepos, func() string {
			for _, repo := range c.ExcludeRepos {
				if owner, name, _ := strings.Cut(repo, "/"); !excludedOwner.MatchString(owner) || name != "*" && !IsRepo(name) {
					return fmt.Sprintf("want owner/repo or owner/*, got %q", text.Quote(repo))
				}
			}
			return ""
		}},
		{"sensitivePaths", &c.SensitivePaths, func() string {
			for _, glob := range c.SensitivePaths {
				for part := range strings.SplitSeq(glob, "/") {
					if _, err := path.Match(part, ""); err != nil {
						return fmt.Sprintf("the glob %q is malformed, and would match nothing", text.Quote(glob))
					}
				}
			}
			return ""
		}},
		{"forkOwner", &c.ForkOwner, func() string {
			return unless(c.ForkOwner == nil || IsOwner(*c.ForkOwner), "want the name of an account, or null")
		}},
		{"forkName", &c.ForkName, func() string {
			return unless(c.ForkName == "" || IsRepo(c.ForkName), "want the name of a repository, without its owner")
		}},
		{"branchPrefix", &c.BranchPrefix, func() string {
			return unless(branchPrefix(c.BranchPrefix), "want the beginning of a branch name: letters, digits, \"-\", \"_\" and \"/\", got %q", text.Quote(c.BranchPrefix))
		}},
		{"signOff", &c.SignOff, nil},
		{"scoreRules", &c.ScoreRules, nil},
		{"pipeline", &c.Pipeline, nil},
		{"sandbox.network", &c.Sandbox.Network, func() string {
			return unless(c.Sandbox.Network == "setup-only" || c.Sandbox.Network == "none", "want setup-only or none, got %q", text.Quote(c.Sandbox.Network))
		}},
		{"sandbox.cpus", &c.Sandbox.CPUs, func() string { return unless(c.Sandbox.CPUs > 0, "want more than 0, got %v", c.Sandbox.CPUs) }},
		{"sandbox.memory", &c.Sandbox.Memory, func() string {
			return unless(memorySize(c.Sandbox.Memory), "want a number with b, k, m or g, such as 4g, got %q", text.Quote(c.Sandbox.Memory))
		}},
		{"sandbox.pids", &c.Sandbox.PIDs, atLeastOne(&c.Sandbox.PIDs)},
		{"sandbox.commandTimeoutSeconds", &c.Sandbox.CommandTimeoutSeconds, atLeastOne(&c.Sandbox.CommandTimeoutSeconds)},
		{"sandbox.totalTimeoutSeconds", &c.Sandbox.TotalTimeoutSeconds, atLeastOne(&c.Sandbox.TotalTimeoutSeconds)},
		{"sandbox.images", &c.Sandbox.Images, nil},
	}
}

// unless returns the formatted text if holds is false, else an empty text.
func unless(holds bool, format string, args ...any) string {
	if holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// A configReader parses a configuration key by key, so that one wrong value does not keep it from
// reporting others.
type configReader struct {
	name     string
	data     []byte
	fields   []field
	problems []error
}

// problem records a mistake at an offset.
func (r *configReader) problem(offset int, message string) {
	line, col := text.Position(string(r.data), min(offset, len(r.data)))
	r.problems = append(r.problems, fmt.Errorf("%s:%d:%d: %s", r.name, line, col, message))
}

// object parses the object at an offset. The names of its keys begin with prefix.
func (r *configReader) object(prefix string, offset int, object json.RawMessage) {
	if object[0] != '{' {
		r.problem(offset, strings.TrimPrefix(strings.TrimSuffix(prefix, ".")+": want an object", ": "))
		return
	}
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // the opening brace; the whole is valid JSON
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		at, path := offset+int(d.InputOffset())-len(value), prefix+fmt.Sprint(key)
		for _, f := range r.fields {
			if f.path == path {
				r.value(f, at, value)
			}
		}
		if slices.ContainsFunc(r.fields, func(f field) bool { return strings.HasPrefix(f.path, path+".") }) {
			r.object(path+".", at, value)
		}
	}
}

// value reads the value of a key.
func (r *configReader) value(f field, at int, value json.RawMessage) {
	if err := json.Unmarshal(value, f.into); err != nil {
		wanted := "another kind of value"
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			wanted = jsonType(e.Type.Kind().String()) + ", got " + e.Value
		}
		r.problem(at, f.path+": want "+wanted)
		return
	}
	if f.check == nil {
		return
	}
	if wrong := f.check(); wrong != "" {
		r.problem(at, f.path+": "+wrong)
	}
}

// jsonType returns the JSON name of a Go type.
func jsonType(kind string) string {
	switch kind {
	case "slice":
		return "a list"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "map", "struct":
		return "an object"
	default:
		return "a " + kind
	}
}

// memorySize reports whether docker accepts a text as an amount of memory.
func memorySize(s string) bool {
	digits := strings.TrimRight(s, "bkmgBKMG")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && len(s)-len(digits) <= 1 && strings.Trim(digits, "0") != ""
}

// branchPrefix reports whether a text can be the prefix of a branch name. The prefix refs/ is
// refused, because git would interpret the name as a full ref.
func branchPrefix(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/", r) {
			return false
		}
	}
	return s != "" && len(s) <= 50 && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "/") && !strings.Contains(s, "//") && !strings.HasPrefix(s, "refs/")
}
