package config

import (
	"context"
	"errors"
	"io/fs"

	"github.com/org/foreman-action/rules"
)

// DefaultPath is where a repository keeps its configuration.
const DefaultPath = ".github/foreman.yml"

// OtherPath is where a repository without [DefaultPath] keeps its configuration.
const OtherPath = ".github/foreman.yaml"

// Default returns which of [DefaultPath] and [OtherPath] is the configuration in files. It returns
// DefaultPath if there is neither.
func Default(ctx context.Context, files Files) string {
	missing := func(path string) bool {
		_, err := files.Read(ctx, path)
		return errors.Is(err, fs.ErrNotExist)
	}
	if missing(DefaultPath) && !missing(OtherPath) {
		return OtherPath
	}
	return DefaultPath
}

// ErrNotFound means that the configuration file, or a rule file, is required and does not
// exist.
var ErrNotFound = errors.New("no such configuration file")

// Files reads configuration files from a folder, or from a repository's default branch.
type Files interface {
	// Read returns a file. The error matches fs.ErrNotExist when there is none.
	Read(ctx context.Context, path string) ([]byte, error)
	// Glob returns the matching files, sorted; no match is not an error. Only the last element of
	// the pattern may contain wildcards.
	Glob(ctx context.Context, pattern string) ([]string, error)
}

// A Spec lists the files of a configuration and says how to read them.
type Spec struct {
	Path string // the configuration file, usually DefaultPath; empty: none
	// Else is read if Path does not exist: OtherPath, or empty for no file.
	Else string
	// Optional permits the configuration file to be missing.
	Optional bool
	// Rules are globs of further rule files; each must match at least one file.
	Rules []string
	// IssueForms is where the repository's issue forms are, if they can be read without a call to
	// GitHub; nil: they are not known.
	IssueForms Files
	// Own are functions and actions of the program's own, for the rules and for agent.when. The policy
	// and agent.may can name these actions.
	Own rules.CompileOptions
	// Tests requests the tests in the rule files. A run leaves it false, so that a mistake in a
	// test does not stop the run.
	Tests bool
	// Getenv resolves ${VAR} in values outside the rules; nil: no variable is set.
	Getenv func(string) string
	// Sections are the keys of the configuration file that Load decodes. It ignores all other keys,
	// which another program has to decode and check. The file needs no version then. Nil: Load
	// decodes all keys, and reports unknown ones.
	Sections []string
	// Remote reads the extended file. The error matches fs.ErrNotExist when the file does not
	// exist, and triage.ErrNeedsHost when it cannot be read without credentials, which are missing.
	// Nil: no file can be read.
	Remote func(context.Context, RemoteFile) ([]byte, error)
	// Partial is for checks. If the extended file cannot be read without a token, Load warns and
	// goes on without it; problems that it could resolve become warnings, too. A run must not set
	// Partial, because it would lose the limits of that file.
	Partial bool
}
