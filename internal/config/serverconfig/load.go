package serverconfig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/config/variable"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// Load reads a configuration. All mistakes are reported together, as [yamlfile.Problems]. Outside
// of the rules and the policy, no error contains a value of the file.
func Load(ctx context.Context, spec Spec) (*Config, error) {
	dir, name := filepath.Split(spec.Path)
	files := snapshot{folder: folder(dir), name: name}
	c, red := &Config{}, redactor{dir: dir, main: name}
	var own, warnings yamlfile.Problems
	switch err := files.read(ctx); {
	case err != nil && !errors.Is(err, fs.ErrNotExist): // such as a folder
		return nil, fmt.Errorf("read the configuration %s: %w", spec.Path, err)
	case err == nil:
		if f, err := yamlfile.Parse(name, files.data); err == nil { // config.Load reports the error
			red.shown = sharedLines(f.Root())
			c = decode(f, f.Root(), spec)
			own, _ = errors.AsType[yamlfile.Problems](f.Err())
			warnings = f.Warnings()
		}
	}
	runner, err := config.Load(ctx, files, config.Spec{
		Path: name, Sections: sharedSections(),
		Getenv: func(name string) string { v, _ := spec.lookup(name); return v },
	})
	if err == nil && runner == nil { // the name is empty, as in missing/
		err = config.ErrNotFound
	}
	problems, found := errors.AsType[yamlfile.Problems](err)
	switch {
	case found, err == nil && len(own) > 0:
		return nil, red.redact(merge(own, problems))
	case errors.Is(err, config.ErrNotFound):
		return nil, fmt.Errorf("read the configuration %s: %w", spec.Path, err)
	case err != nil:
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	c.Runner, c.Warnings = runner, append(red.redact(append(merge(warnings, runner.Warnings), runner.UnusualPatterns(nil)...)), unscheduled(name, runner)...)
	for _, glob := range runner.Globs {
		if names, err := files.Glob(ctx, glob); err == nil && len(names) == 0 {
			c.Warnings = append(c.Warnings, yamlfile.Problem{File: name, Warning: true, Message: fmt.Sprintf("include: no file matches %s", glob)})
		}
	}
	runner.LLM = protocol.LLMBackendRef{Provider: c.LLM.Provider, Model: c.LLM.Model}
	return c, nil
}

// LoadStores reads only the sections of a configuration that name the databases, queue and memory. Other
// sections are not decoded, so that their variables need not be set.
func LoadStores(ctx context.Context, spec Spec) (Queue, Memory, error) {
	var d struct {
		Queue  Queue  `yaml:"queue"`
		Memory Memory `yaml:"memory"`
	}
	dir, name := filepath.Split(spec.Path)
	data, err := folder(dir).Read(ctx, name)
	if err != nil {
		return d.Queue, d.Memory, fmt.Errorf("read the configuration %s: %w", spec.Path, err)
	}
	f, err := yamlfile.Parse(name, data)
	if err == nil {
		root := f.Root()
		decoder := secretDecoder(f, spec)
		if at := yamlfile.Child(root, "queue"); at != nil {
			decoder.Decode(at, &d.Queue)
		}
		if at := yamlfile.Child(root, "memory"); at != nil {
			decoder.Decode(at, &d.Memory)
		}
		rows := slices.Concat(queueKeys(spec), memoryKeys(spec)).Checker(f)
		rows.Hide = true
		rows.Check("", root, &d)
		in := file{Checker: rows, decoder: decoder, spec: spec, root: root}
		d.Queue.check(in)
		d.Memory.check(in, &d.Queue)
		err = f.Err()
	}
	if problems, ok := errors.AsType[yamlfile.Problems](err); ok {
		err = redactor{dir: dir, main: name}.redact(problems)
	}
	return d.Queue, d.Memory, err
}

// LoadRunner reads only what a configuration shares with that of the action, without the rules, and the address of GitHub's API; empty: not configured.
// Other variables, such as those of secrets, need not be set.
func LoadRunner(ctx context.Context, spec Spec) (runner *config.Config, api string, err error) {
	dir, name := filepath.Split(spec.Path)
	files := snapshot{folder: folder(dir), name: name}
	if err := files.read(ctx); err != nil {
		return nil, "", fmt.Errorf("read the configuration %s: %w", spec.Path, err)
	}
	runner, err = config.Load(ctx, files, config.Spec{
		Path: name, Sections: sharedSections(), Getenv: config.AnyVariable(func(name string) string { v, _ := spec.lookup(name); return v }),
	})
	if problems, ok := errors.AsType[yamlfile.Problems](err); ok {
		err = redactor{dir: dir, main: name}.redact(problems)
	}
	if err != nil {
		return nil, "", err
	}
	if f, err := yamlfile.Parse(name, files.data); err == nil {
		if at := yamlfile.Child(f.Root(), "identity"); at != nil {
			if at := yamlfile.Child(at, "api_url"); at != nil {
				secretDecoder(f, spec).Decode(at, &api)
			}
		}
	}
	return runner, api, nil
}

// secretDecoder returns a decoder that resolves variables, and whose messages contain no secret.
func secretDecoder(f *yamlfile.File, spec Spec) yamlfile.Decoder {
	return yamlfile.Decoder{File: f, Variables: variables(spec), Lenient: true, Secret: reflect.TypeFor[secret.Text]()}
}

// merge returns the problems of both lists, sorted. Both lists may contain the same mistake of the
// file's YAML.
func merge(own, others yamlfile.Problems) yamlfile.Problems {
	all := slices.DeleteFunc(slices.Clone(others), func(p yamlfile.Problem) bool { return slices.Contains(own, p) })
	all = append(slices.Clone(own), all...)
	yamlfile.Sort(all)
	return all
}

// unscheduled warns of rules that need a scheduled run, because servers do not make scheduled runs.
func unscheduled(file string, cfg *config.Config) (list yamlfile.Problems) {
	if len((*ruleset.Set)(cfg.Rules).Rules().Scans()) > 0 {
		list = append(list, yamlfile.Problem{File: file, Warning: true, Message: "some rules have a scan; this server never searches for issues, so they need scheduled runs of the action"})
	}
	if (*ruleset.Set)(cfg.Rules).Rules().ClosesLater() {
		list = append(list, yamlfile.Problem{File: file, Warning: true, Message: "some rules close issues after a grace period; this server refuses such closes, because only scheduled runs of the action carry them out"})
	}
	return list
}

// decode decodes and checks the server's own sections.
func decode(f *yamlfile.File, root *yaml.Node, spec Spec) *Config {
	var d document
	decoder := secretDecoder(f, spec)
	decoder.Decode(root, &d)
	rows, agents := table(spec).Checker(f), agentKeys().Checker(f)
	rows.Hide, agents.Hide = true, true
	rows.Check("", root, &d)

	in := file{Checker: rows, agents: agents, decoder: decoder, spec: spec, root: root}
	d.Identity.check(in)
	d.Polling.check(in, &d.Identity)
	d.Queue.check(in)
	d.Memory.check(in, &d.Queue)
	d.Server.check(in)
	d.Containers.check(in)
	checkRepos(in, d.Repos)
	d.Server.checkAgents(in, d.Repos)

	c := &Config{
		Identity: d.Identity, Polling: d.Polling, Queue: d.Queue, Memory: d.Memory,
		Server: d.Server, Telemetry: d.Telemetry, Log: d.Log, Containers: d.Containers, Repos: d.Repos,
	}
	if d.LLM != nil {
		c.LLM = *d.LLM
	}
	return c
}

// variables returns the environment variables. A variable may be empty. If NAME is not set, NAME_FILE
// is the path of a file with the value. Only values of type
// [secret.Text] may use variables with a secret. "${}" is kept, because published files contain it.
func variables(spec Spec) *yamlfile.Variables {
	return &yamlfile.Variables{Lenient: true, Reserved: variable.Reserved, Lookup: func(name string) (string, error) {
		v, ok := spec.lookup(name)
		if path, file := spec.lookup(name + "_FILE"); !ok && file {
			return variableFile(name+"_FILE", path)
		}
		if !ok {
			return "", fmt.Errorf("environment variable %s is not set; set it, or %[1]s_FILE to the path of a file with the value", name)
		}
		return v, nil
	}}
}

// variableFile returns the content of the file that a variable names, without the line's end and
// without an editor's byte order mark, so that a secret can change while the server runs. The error
// does not contain the content.
func variableFile(variable, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("environment variable %s: %w", variable, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxVariable+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("environment variable %s: %w", variable, err)
	case len(data) > maxVariable:
		return "", fmt.Errorf("environment variable %s: %s has more than %d bytes", variable, path, maxVariable)
	}
	return strings.TrimRight(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n"), nil
}

const maxVariable = 64 << 10 // bytes of a value in a file

// A snapshot is a folder in which one file is read once, so that two readers see the same content.
type snapshot struct {
	folder

	name string
	data []byte // nil: it cannot be read
}

func (s *snapshot) read(ctx context.Context) (err error) {
	s.data, err = s.folder.Read(ctx, s.name)
	return err
}

// Read returns a file.
func (s snapshot) Read(ctx context.Context, name string) ([]byte, error) {
	if name == path.Clean(s.name) && s.data != nil {
		return s.data, nil
	}
	return s.folder.Read(ctx, name)
}

// folder reads files below a directory; empty: below the working directory.
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
