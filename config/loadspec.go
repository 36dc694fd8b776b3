package config

import (
	"context"
	"errors"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// DefaultPath is where a repository keeps its configuration.
const DefaultPath = ".github/foreman.yml"

// ErrNotFound means that the configuration file, or a rule file, is required and does not
// exist.
var ErrNotFound = errors.New("no such configuration file")

// Files is where configuration is read: a folder, or a repository's default branch.
type Files interface {
	// Read returns a file. The error matches fs.ErrNotExist when there is none.
	Read(ctx context.Context, path string) ([]byte, error)
	// Glob returns the files that match, sorted; none is not an error. Only the last element of
	// the pattern may contain wildcards.
	Glob(ctx context.Context, pattern string) ([]string, error)
}

// A Spec lists the files of a configuration and how they are read.
type Spec struct {
	Path string // the configuration file, usually DefaultPath; empty: none
	// Optional permits that the configuration file is missing.
	Optional bool
	// Rules are globs of more rule files; each must match.
	Rules []string
	// Tests asks for the tests beside the rules. A run has no use for them, and a mistake in
	// them does not stop it.
	Tests bool
	// Getenv resolves ${VAR} in values outside the rules; nil: no variable is set.
	Getenv func(string) string
	// Split takes the sections of another program, such as a server, out of the first file
	// before it is decoded. It decodes them from the root, records its problems in f, and
	// returns the mapping of the other sections. Nil: the file has no such sections.
	Split func(f *yamlfile.File, root *yaml.Node) *yaml.Node
	// Remote reads the file that is extended. The error matches fs.ErrNotExist when there is
	// none, and triage.ErrNeedsHost when reading needs a token; nil: that is always so.
	Remote func(context.Context, RemoteFile) ([]byte, error)
	// Partial is for checks: a file that cannot be read without a token is left out with a
	// warning, and so are problems that it could resolve. A run must not do that: it would
	// lose the limits of that file.
	Partial bool
}
