// Package publish runs the commands that open a draft pull request, and no other commands that
// write. It reads from git and GitHub which steps an earlier attempt completed, so that an
// interrupted run can be repeated.
package publish

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/triage"
)

// remote is the name of the fork among the remotes.
const remote = "contribflow-fork"

const (
	forkName = "--fork-name" // flag of "gh repo fork": the name of a new fork
	signOff  = "--signoff"   // flag of "git commit"
)

// A Command is one planned command: the program and its arguments.
type Command struct {
	argv []string
	step step
}

// A step is the purpose of a planned command.
type step int

// The steps, in their order.
const (
	stepAuth step = iota
	stepLogin
	stepFork
	stepSwitch
	stepAdd
	stepCommit
	stepRemote
	stepPush
	stepCreate
)

// A Request is the data of a pull request.
type Request struct {
	Issue        triage.Ref
	Fork         Fork
	Server       string // of the repositories, such as https://github.com
	Branch, Base string
	Title        string
	BodyFile     string // path relative to the controller's folder
	SignOff      bool   // the commit has the line Signed-off-by
}

// Commands returns the commands that publish a request, in their order.
func (r Request) Commands() []Command {
	repo := r.Issue.Owner + "/" + r.Issue.Repo
	commit := []string{"git", "commit", "-m", r.Title}
	if r.SignOff {
		commit = append(commit, signOff)
	}
	fork := []string{"gh", "repo", "fork", repo, "--clone=false"}
	if r.Fork.New && !strings.EqualFold(r.Fork.Name, r.Issue.Repo) {
		fork = append(fork, forkName, r.Fork.Name)
	}
	return []Command{
		{[]string{"gh", "auth", "status"}, stepAuth},
		{[]string{"gh", "api", "user", "--jq", ".login"}, stepLogin},
		{fork, stepFork},
		{[]string{"git", "switch", r.Branch}, stepSwitch},
		{[]string{"git", "add", "-A"}, stepAdd},
		{commit, stepCommit},
		{[]string{"git", "remote", "add", remote, r.address()}, stepRemote},
		{[]string{"git", "push", remote, "HEAD:" + r.Branch}, stepPush},
		{[]string{"gh", "pr", "create", "--repo", repo, "--draft", "--base", r.Base, "--head", r.Fork.Owner + ":" + r.Branch, "--title", r.Title, "--body-file", r.BodyFile}, stepCreate},
	}
}

// address returns the address of the fork.
func (r Request) address() string { return fmt.Sprintf("%s/%s.git", r.Server, r.Fork) }

var bare = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// String returns the command as a person would type it.
func (c Command) String() string {
	words := make([]string, len(c.argv))
	for i, word := range c.argv {
		if !bare.MatchString(word) {
			word = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word) + `"`
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// Lines returns commands as a person would type them.
func Lines(commands []Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.String())
	}
	return out
}

// SignedOff reports whether planned commands sign the commit off.
func SignedOff(commands []string) bool {
	return slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(c, "git commit ") && strings.HasSuffix(c, " "+signOff) })
}

// Planned returns the fork that planned commands push to. It is empty if there is none.
func Planned(commands []string) Fork {
	var f Fork
	for _, c := range commands {
		if address, ok := strings.CutPrefix(c, "git remote add "+remote+" "); ok {
			parts := strings.Split(strings.TrimSuffix(address, ".git"), "/")
			const fromEnd = 2
			if len(parts) > fromEnd && controller.IsOwner(parts[len(parts)-fromEnd]) && controller.IsRepo(parts[len(parts)-1]) {
				f.Owner, f.Name = parts[len(parts)-fromEnd], parts[len(parts)-1]
			}
		}
		if strings.HasPrefix(c, "gh repo fork ") && strings.Contains(c, " "+forkName+" ") {
			f.New = true
		}
	}
	return f
}
