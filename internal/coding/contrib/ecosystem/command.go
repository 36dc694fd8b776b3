package ecosystem

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Command is a command for the shell of a container, which sets up or checks a repository. Its
// line contains only text of this package, and no text of the repository.
type Command struct {
	Line string
	Dir  string // of a nested package, with slashes; empty: the root of the repository
	// Image is the container image for the command. Ecosystem is the key of [Options.Images] that can
	// replace it.
	Image, Ecosystem string
	Env              []string // further variables, as NAME=value
	Block            *Block   // why the setup may not run; nil if it may
}

// A Block is the reason why a setup must not run until a person has acted.
type Block struct {
	Reason string // a sentence
	Remedy string // a sentence: the next step for a person
}

// Options are the input of a detection besides the tree.
type Options struct {
	// Changed are the files that a patch changes. Nested packages that contain such a file are
	// detected, too.
	Changed []string
	// AcceptLockfiles means that a person reviewed the lockfiles that the patch changes.
	AcceptLockfiles bool
	// Images replace the default images. The keys are those of [Ecosystems]. The key of a package
	// manager, such as pnpm, has priority over that of its ecosystem, such as node.
	Images map[string]string
	// Root is the folder of the repository in the container; empty: "/workspace".
	Root string
}

// A phase orders the commands of a package.
type phase int

const (
	lint phase = iota
	typecheck
	test
	build
)

// A unit is one ecosystem in one folder.
type unit struct {
	manager  string // the name that a plan shows
	setup    *Command
	env      []string // of its commands
	commands []step
}

type step struct {
	phase phase
	line  string
}

// A lock describes the files that pin the dependencies of a setup.
type lock struct {
	files  []string // paths of the lockfiles; empty: there are none
	wanted string   // names of possible lockfiles, for messages
	needed bool     // the package has dependencies
	block  *Block   // why the lockfiles cannot be used
}

// setup returns the command that installs dependencies; nil if there are none. line must install
// exactly the dependencies that the lockfiles pin.
func (l lock) setup(o Options, dir, line string) *Command {
	command := &Command{Line: line, Dir: dir}
	where := "the repository"
	if dir != "" {
		where = "the package " + clean(dir)
	}
	if l.block != nil {
		command.Block = l.block
		return command
	}
	if len(l.files) == 0 {
		if !l.needed {
			return nil
		}
		command.Block = &Block{
			"Dependencies are declared without a lockfile (" + l.wanted + "). Nothing is installed without one.",
			"Ask the maintainers of " + where + " for a lockfile (" + l.wanted + "), or add it to the patch and have a person accept it.",
		}
		return command
	}
	for _, file := range l.files {
		if slices.Contains(o.Changed, file) && !o.AcceptLockfiles {
			command.Block = &Block{
				"The patch changes " + clean(file) + ", which selects the installed dependencies. A person must accept it first.",
				"Review the change of " + clean(file) + ", then run: contribflow validate --run --sandbox docker --accept lockfile --json",
			}
			return command
		}
	}
	return command
}

// clean replaces control characters in a name from the repository by "?".
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name)
}

// in returns the path in the container for a path in the repository.
func (o Options) in(dir, name string) string {
	root := o.Root
	if root == "" {
		root = "/workspace"
	}
	return path.Join(root, dir, name)
}

// variable returns NAME=value; several values are joined by ":".
func variable(name string, values ...string) string {
	return fmt.Sprintf("%s=%s", name, strings.Join(values, ":"))
}
