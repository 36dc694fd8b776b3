package start

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/starter"
	"github.com/org/foreman-action/internal/sanitize"
)

// maxReported bounds the list on standard error. The written file has a longer one.
const maxReported = 200

// reportOf lists the parts of the repository that the rules do without.
func reportOf(repo starter.Repository, p starter.Proposal) string {
	var b strings.Builder
	for i, one := range p.Unmapped {
		if i == maxReported {
			fmt.Fprintf(&b, "… and %d more\n", len(p.Unmapped)-i)
			break
		}
		b.WriteString(format.Lines(one.Error()) + "\n")
	}
	if len(p.LeftOut) > 0 {
		b.WriteString("no rule was written for " + format.Names(p.LeftOut) + "\n")
	}
	for _, n := range repo.Notes {
		b.WriteString("note: " + n + "\n")
	}
	return b.String()
}

// nextSteps lists the files that were written to root, and the next steps.
func (o Options) nextSteps(root string, repo starter.Repository, p starter.Proposal, list []file) string {
	var b strings.Builder
	var names []string
	for _, f := range list {
		names = append(names, f.name)
	}
	fmt.Fprintf(&b, "wrote %s\n", strings.Join(names, " and "))
	for _, part := range p.Parts {
		b.WriteString("  " + sanitize.Log(part) + "\n")
	}
	workflow := starter.WorkflowPath
	switch {
	case len(repo.Runs) > 0:
		workflow = strings.Join(repo.Runs, " and ")
		fmt.Fprintf(&b, "kept %s, which runs Foreman\n", workflow)
	case len(list) == 1:
		fmt.Fprintf(&b, "kept %s, which does not run Foreman: add the step there\n", workflow)
	}
	if repo.Labels == nil {
		b.WriteString("note: the labels of the repository are not known; set GITHUB_TOKEN, or use --labels, for rules that use them\n")
	}
	switch top := gitRoot(root); top {
	case root:
	case "":
		b.WriteString("note: there is no .git beside .github, and GitHub reads both at the root of a repository only\n")
	default:
		b.WriteString("note: GitHub reads .github only at the root of the repository, which is " + sanitize.Log(top) +
			": remove the written files, and run foreman init there\n")
	}
	in := ""
	if o.Dir != "." {
		in = "       cd " + sanitize.Log(o.Dir) + "\n"
	}
	fmt.Fprintf(&b, `
Next:
  1. Read the rules, change what does not fit, and try them:
%s       foreman rules check
       foreman rules test
       foreman triage %s
  2. Commit and push to the default branch. The rules then report in the job summaries,
     with mode: shadow, and write nothing.
  3. When the reports are right, write "mode: apply" in %s, and
     "%s" in %s.
`, in, p.Try, config.DefaultPath, strings.Join(p.Writes, `" and "`), workflow)
	if len(repo.Tools) > 0 {
		b.WriteString("     At the same time remove the steps of the imported tools from their workflows.\n")
	}
	return b.String()
}

// gitRoot returns dir, or the nearest folder above it, that has .git; empty: there is none.
func gitRoot(dir string) string {
	for !exists(dir, ".git") {
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
	return dir
}
