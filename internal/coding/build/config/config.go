// Package config reads .foreman/build.yml: the two agents, the consumer's own commands and
// the limits of a run. The file is read from the base commit, never from the tree that an
// agent works in.
package config

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/coding/steering"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Name is the file's path in a repository.
const Name = ".foreman/build.yml"

// A Config is the content of the file. Omitted keys have their defaults.
type Config struct {
	Version   int        `yaml:"version,required"`
	Builder   Agent      `yaml:"builder,required"`
	Inspector Agent      `yaml:"inspector,required"`
	Setup     [][]string `yaml:"setup"`  // commands, run in each clone of the Builder and of the checks
	Checks    []Check    `yaml:"checks"` // commands that judge each round
	Limits    Limits     `yaml:"limits"`
	Env       []string   `yaml:"env"` // names of additional variables for commands
	Sandbox   Sandbox    `default:"none"            yaml:"sandbox"`
	Image     string     `yaml:"image"` // image of the containers; required for [Docker], else empty
	Commit    Identity   `yaml:"commit"`
	Publish   Publish    `yaml:"publish"`
}

// An Agent is a command that works as Builder or Inspector. If there is a preset, [Parse] sets
// Command from it. Otherwise exactly one of Command and Script is set.
type Agent struct {
	Preset string `yaml:"preset"`
	// Command is a program with its arguments, in which placeholders are replaced; see
	// [Placeholders].
	Command []string `yaml:"command"`
	// Script is a folder with recorded steps instead of an agent.
	Script string `yaml:"script"`
	Model  string `yaml:"model"`
	// Result is the path of the result file, relative to the root of the repository; empty: the default, such as
	// builder_result.json.
	Result string `yaml:"result"`
	// From is where the result comes from.
	From    Source        `default:"file" yaml:"result_from"`
	Timeout time.Duration `default:"30m"  yaml:"timeout"`
	Idle    time.Duration `default:"5m"   yaml:"idle_timeout"`
	// Setup is set if the setup commands also run in the Inspector's clone. They run code of the change.
	Setup bool `default:"false" yaml:"setup"`
}

// A Source is where an agent writes its result.
type Source string

// The sources.
const (
	File    Source = "file"    // the agent writes the result file
	Message Source = "message" // the agent's final message holds it
)

// A Sandbox defines where commands run.
type Sandbox string

// The sandboxes.
const (
	NoSandbox Sandbox = "none"
	Docker    Sandbox = "docker"
)

// A Check is a command of the consumer that judges the Builder's work.
type Check struct {
	Run      []string `yaml:"run,required"`
	Required bool     `default:"true"      yaml:"required"`
}

// Title returns the command with its arguments, separated by spaces.
func (c Check) Title() string { return strings.Join(c.Run, " ") }

// Limits bound a run.
type Limits struct {
	Rounds     int           `default:"3"       yaml:"rounds"`
	Attempts   int           `default:"3"       yaml:"attempts"` // of one agent in one round
	RunTimeout time.Duration `default:"2h"      yaml:"run_timeout"`
	LogBytes   Bytes         `yaml:"log_bytes"`  // of one command
	DiffBytes  Bytes         `yaml:"diff_bytes"` // of the patch for the Inspector
	// MinSeverity is the least severity of a finding that causes another round. Empty: the
	// Inspector's verdict decides.
	MinSeverity string `yaml:"min_severity"`
}

// An Identity is the author of the commits that Foreman makes itself.
type Identity struct {
	Name  string `default:"Foreman"                 yaml:"name"`
	Email string `default:"foreman@foreman.invalid" yaml:"email"`
}

// Publish contains the settings of the pull request.
type Publish struct {
	Draft bool `default:"true" yaml:"draft"`
	// Protected are globs of paths that no published change may touch.
	Protected []string `yaml:"protected"`
	// Submodules allows changes of submodules. They are forbidden by default, because a diff does not
	// show the code in them.
	Submodules bool `default:"false" yaml:"submodules"`
}

// Protects returns the first glob that matches a path of the repository. The case of letters is
// ignored. "**" matches any number of folders, and "*" any part of one name.
func (p Publish) Protects(name string) (glob string, ok bool) {
	name = strings.ToLower(name)
	for _, glob := range p.Protected {
		if text.MatchPath(strings.ToLower(glob), name) {
			return glob, true
		}
	}
	return "", false
}

// protected returns the globs of paths that a change may not touch by default.
func protected() []string { return append([]string{".github/**"}, steering.Globs()...) }

// DefaultPublish returns the settings of a repository without the file.
func DefaultPublish() Publish { return Publish{Draft: true, Protected: protected()} }

// Bytes is a size in bytes. The file has "10MB", "64KB" or "1GB", in powers of 1,000, or a number
// of bytes.
type Bytes int64

// DecodeYAML reads a size.
func (b *Bytes) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	text := strings.ToUpper(strings.ReplaceAll(n.Value, " ", ""))
	factor := int64(1)
	for _, unit := range []struct {
		name   string
		factor int64
	}{{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}} {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			text, factor = number, unit.factor
			break
		}
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || size <= 0 || size > (1<<40)/factor {
		f.Problemf(n, "want a size, such as 10MB, not %s", yamlfile.Kind(n))
		return
	}
	*b = Bytes(size * factor)
}

// Parse reads the file. The error is a [yamlfile.Problems] with every mistake of it.
func Parse(src []byte) (Config, error) {
	var c Config
	f, err := yamlfile.Parse(Name, src)
	if err != nil {
		return c, err
	}
	c.Limits.LogBytes, c.Limits.DiffBytes = 10e6, 1e6
	f.Decode(f.Root(), &c)
	check(f, &c)
	if err := f.Err(); err != nil {
		return Config{}, err
	}
	c.Builder, c.Inspector = c.Builder.complete(builder), c.Inspector.complete(inspector)
	if yamlfile.Child(f.Root(), "publish", "protected") == nil {
		c.Publish.Protected = protected()
	}
	return c, nil
}

// check records the mistakes that the types of the fields do not exclude.
func check(f *yamlfile.File, c *Config) {
	root := f.Root()
	at := func(keys ...string) *yaml.Node {
		for n := len(keys); n > 0; n-- {
			if node := yamlfile.Child(root, keys[:n]...); node != nil {
				return node
			}
		}
		return root
	}
	if c.Version != 0 && c.Version != 1 {
		f.Problemf(at("version"), "unsupported version %d (want 1)", c.Version)
	}
	checkAgent(f, yamlfile.Child(root, builder), c.Builder, builder)
	checkAgent(f, yamlfile.Child(root, inspector), c.Inspector, inspector)
	for _, limit := range []struct {
		key   string
		value int
	}{{"rounds", c.Limits.Rounds}, {"attempts", c.Limits.Attempts}} {
		if limit.value < 1 || limit.value > 20 {
			f.Problemf(at("limits", limit.key), "want a number from 1 to 20")
		}
	}
	if c.Limits.RunTimeout <= 0 {
		f.Problemf(at("limits", "run_timeout"), "want a time above zero, such as 2h")
	}
	oneOf(f, at("limits", "min_severity"), c.Limits.MinSeverity, "", "blocker", "major", "minor")
	oneOf(f, at("sandbox"), string(c.Sandbox), string(NoSandbox), string(Docker))
	switch {
	case c.Sandbox == Docker && c.Image == "":
		f.Problemf(at("sandbox"), "sandbox: docker needs image, the image in which commands run")
	case c.Sandbox == NoSandbox && c.Image != "":
		f.Problemf(at("image"), "image needs sandbox: docker; without it commands run on this machine")
	case c.Sandbox == Docker:
		if err := sandbox.CheckImage(c.Image); err != nil {
			f.Problemf(at("image"), "%v", err)
		}
	}
	for i, command := range c.Setup {
		checkCommand(f, item(at("setup"), i), command)
	}
	for i, command := range c.Checks {
		node := item(at("checks"), i)
		if n := yamlfile.Child(node, "run"); n != nil {
			checkCommand(f, n, command.Run)
		}
	}
	for i, name := range c.Env {
		node := item(at("env"), i)
		switch {
		case process.Forbidden(name):
			f.Problemf(node, "%s is never passed to commands: it may contain a token, or change how git works", name)
		case name == "" || strings.ContainsAny(name, "= \t\n"):
			f.Problemf(node, "want the name of a variable, not %q", name)
		case c.Sandbox == Docker && process.Local(name):
			f.Problemf(node, "%s describes this machine; the containers of sandbox: docker have their own value", name)
		}
	}
	for i, glob := range c.Publish.Protected {
		if !validGlob(glob) {
			f.Problemf(item(at("publish", "protected"), i), "want a glob of paths in the repository, such as docs/**, not %q", glob)
		}
	}
}

func checkAgent(f *yamlfile.File, n *yaml.Node, a Agent, role string) {
	if n == nil {
		return // f.Decode has already reported the missing key
	}
	at := func(key string) *yaml.Node {
		if node := yamlfile.Child(n, key); node != nil {
			return node
		}
		return n
	}
	given := 0
	for _, key := range []string{"preset", "command", "script"} {
		if yamlfile.Child(n, key) != nil {
			given++
		}
	}
	if given != 1 {
		f.Problemf(n, "the %s needs exactly one of preset, command and script", role)
	}
	if yamlfile.Child(n, "preset") != nil {
		if _, ok := preset(a.Preset, role); !ok {
			f.Problemf(at("preset"), "there is no %s preset %q: want one of %s%s", role, a.Preset, strings.Join(presets(role), ", "), yamlfile.DidYouMean(a.Preset, presets(role)))
		}
	}
	if yamlfile.Child(n, "command") != nil {
		checkCommand(f, at("command"), a.Command)
		for _, name := range unknownPlaceholders(a.Command) {
			f.Problemf(at("command"), "there is no placeholder {{%s}}: want one of %s%s", name, strings.Join(Placeholders(), ", "), yamlfile.DidYouMean(name, Placeholders()))
		}
	}
	if yamlfile.Child(n, "result") != nil && !relative(a.Result) {
		f.Problemf(at("result"), "want a path inside the repository, such as %s_result.json", role)
	}
	oneOf(f, at("result_from"), string(a.From), string(File), string(Message))
	if role == builder && yamlfile.Child(n, "setup") != nil {
		f.Problemf(at("setup"), "this key is for the inspector: the setup commands always prepare the Builder's clone")
	}
	if a.Timeout <= 0 || a.Idle <= 0 {
		f.Problemf(n, "timeout and idle_timeout must be above zero")
	}
}

func checkCommand(f *yamlfile.File, n *yaml.Node, command []string) {
	if n.Kind != yaml.SequenceNode {
		return // f.Decode has already reported the wrong type
	}
	if len(command) == 0 || command[0] == "" {
		f.Problemf(n, "want a program and its arguments as a list, such as [go, test, ./...]")
	}
	if slices.ContainsFunc(command, func(s string) bool { return strings.ContainsRune(s, 0) }) {
		f.Problemf(n, "a command cannot contain a NUL")
	}
}

func oneOf(f *yamlfile.File, n *yaml.Node, value string, known ...string) {
	if slices.Contains(known, value) {
		return
	}
	named := slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == "" })
	f.Problemf(n, "want one of %s, not %q%s", strings.Join(named, ", "), value, yamlfile.DidYouMean(value, named))
}

// item returns the i-th item of a list. If the node is no list, it returns the node itself.
func item(list *yaml.Node, i int) *yaml.Node {
	if list != nil && list.Kind == yaml.SequenceNode && i < len(list.Content) {
		return list.Content[i]
	}
	return list
}

// relative reports whether a path stays inside of the folder it starts from.
func relative(path string) bool {
	return path != "" && !strings.HasPrefix(path, "/") && !strings.Contains(path, "\\") &&
		!slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == ".." || strings.EqualFold(part, ".git") })
}

func validGlob(glob string) bool {
	if _, err := path.Match(glob, ""); err != nil {
		return false
	}
	return relative(strings.TrimPrefix(glob, "**/")) || glob == "**"
}

// Schema returns the JSON Schema, draft 2020-12, of the file. It is less strict than [Parse].
func Schema() map[string]any {
	s := yamlfile.Schema(reflect.TypeFor[Config](), describe)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = fmt.Sprintf("Configuration of foreman build (%s)", Name)
	return s
}
