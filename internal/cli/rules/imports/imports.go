// Package imports is the command that turns another tool's configuration into rules.
package imports

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
)

const help = `Reads another tool's configuration and writes ours to standard output, or to a file
with -o. Settings without a counterpart are listed on standard error with their place,
and in a comment beside the rule in the file. A rule that would act differently from the
original is written only as a comment.

  labeler        .github/labeler.yml of actions/labeler, before and since version 5
  issue-labeler  .github/labeler.yml of github/issue-labeler
  label-actions  .github/label-actions.yml of dessant/label-actions
  stale          the workflow that uses actions/stale, or a mapping of its inputs
  anti-slop      the workflow that uses peakoss/anti-slop

The inputs of the first three are in their workflow: name it with --workflow. Its
events, its conditions and the version of the action are used, too. FILE may be "-"
for standard input.

foreman rules check warns of the differences in the comments of the file.

Exit codes: 0 something was imported, 1 nothing could be, 2 a mistake in the arguments,
or the file is no configuration of the tool.`

// Options are all that the command depends on.
type Options struct {
	Env      process.Env
	Tool     string
	File     string // of the tool; "-": standard input
	Workflow string // workflow that runs the tool; empty: none
	Output   string // file to write; see [process.OutputFile]
	Force    bool   // overwrite Output
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "import TOOL FILE",
		Short: "Turn another tool's configuration into a rule file",
		Long:  help,
		Example: "  foreman rules import labeler .github/labeler.yml --workflow .github/workflows/labeler.yml\n" +
			"  foreman rules import stale .github/workflows/stale.yml -o .github/foreman.yml",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return command.Usagef("name a tool (%s) and its file", strings.Join(importer.Tools(), ", "))
			}
			o.Tool, o.File = args[0], args[1]
			return Run(o)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&o.Output, "output", "o", "", "`FILE` to write instead of standard output")
	fl.StringVar(&o.Workflow, "workflow", "", "workflow `FILE` that runs the tool, for its inputs and events")
	fl.BoolVar(&o.Force, "force", false, "overwrite the file of -o")
	return c
}

// Run imports a file, and prints the rules or writes them to a file.
func Run(o Options) error {
	o.Output = process.OutputFile(o.Output)
	switch {
	case !slices.Contains(importer.Tools(), o.Tool):
		return command.Usagef("unknown tool %q%s; want one of %s", o.Tool, yamlfile.DidYouMean(o.Tool, importer.Tools()), strings.Join(importer.Tools(), ", "))
	case o.Workflow != "" && importer.InWorkflow(o.Tool):
		return command.Usagef("--workflow: for %s the workflow is FILE itself", o.Tool)
	case o.Force && o.Output == "":
		return command.Usagef("--force needs -o FILE")
	}
	dir, err := o.Env.WorkDir()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(process.Below(dir, o.Output)); o.Output != "" && err == nil && !o.Force {
		return command.Usagef("%[1]s exists; --force overwrites it. For the rules of several tools in one file, move %[1]s away and "+
			"run foreman init, which imports the configurations of all of them", o.Output)
	}
	req := othertools.Request{Tool: o.Tool}
	if req.File, err = source(o.Env.Stdin, dir, o.File); err != nil {
		return err
	}
	if o.Workflow != "" {
		if req.Workflow, err = source(o.Env.Stdin, dir, o.Workflow); err != nil {
			return err
		}
	}
	res, err := importer.Import(req)
	if err != nil {
		return command.Usage(err)
	}
	var acts, writes []string
	if res.Rules > 0 {
		cfg, err := config.Parse(req.File.Name, res.Config, nil)
		if err != nil {
			return command.Failed(fmt.Errorf("read the imported rules from %s: %w", req.File.Name, err))
		}
		for _, i := range rules.Infos(cfg.Rules) {
			acts = append(acts, i.Actions...)
		}
		slices.Sort(acts)
		writes = grants.Writes(cfg)
		workflow := req.Workflow
		if importer.InWorkflow(o.Tool) {
			workflow = req.File
		}
		res.Unmapped = append(res.Unmapped, importer.Lacking(o.Tool, workflow, grants.Needs(cfg, false))...)
	}
	if err := report(o.Env.Stderr, req.File.Name, res); err != nil {
		return err
	}
	if o.Output == "" {
		return o.Env.Print(string(res.Config))
	}
	if err := files.Create(process.Below(dir, o.Output), res.Config, o.Force); err != nil {
		return command.Failed(fmt.Errorf("write %s: %w", o.Output, err))
	}
	fmt.Fprint(o.Env.Stderr, o.nextSteps(acts, writes, res.Shadow))
	return nil
}

// nextSteps names the written file with the actions of its rules, and how to go on from there. writes
// are the permissions that the rules need when they write. shadow is true if the file has mode: shadow.
func (o Options) nextSteps(acts, writes []string, shadow bool) string {
	file, workflow := sanitize.Log(o.Output), sanitize.Log(cmp.Or(o.Workflow, "the workflow"))
	if o.Tool == "stale" {
		workflow = sanitize.Log(o.File)
	}
	actions := strings.Join(slices.Compact(acts), ", ")
	effect := "Its rules write on GitHub as soon as a workflow runs them: " + actions
	steps := []string{fmt.Sprintf(`Add "mode: shadow" to %s. The rules then report, and write nothing.`, file)}
	if shadow {
		effect, steps = `With its "mode: shadow", its rules report and write nothing: `+actions, nil
	}
	steps = append(steps, fmt.Sprintf(`Read the differences above, check the rules, and see what they would have done:
       foreman rules check %[1]s
       foreman rules backtest OWNER/REPO %[1]s`, file), fmt.Sprintf(`In %[2]s, put "uses: %[3]s@v1" in the place of the step of %[4]s, without its inputs,
     and the permissions that this prints:
       foreman rules permissions %[1]s
     Add the events of the rules to "on": foreman rules check %[1]s
     then names those that are missing.`, file, workflow, cmp.Or(o.Env.Repository, "org/foreman-action"), o.Tool), fmt.Sprintf(`When the reports are right, remove "mode: shadow", and put the permissions that the same
     command then prints in the place of the old ones. The rules then need
     "%s".`, strings.Join(writes, `" and "`)))
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s\n%s\n\nNext:\n", file, effect)
	for i, step := range steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, step)
	}
	return b.String()
}

// source reads a file that the user names.
func source(stdin io.Reader, dir, name string) (othertools.Source, error) {
	if name == "-" {
		if stdin == nil {
			return othertools.Source{Name: "standard input"}, nil
		}
		data, err := files.ReadAll(stdin, "standard input", yamlfile.MaxSize)
		return othertools.Source{Name: "standard input", Data: data}, files.Unreadable(err)
	}
	data, err := files.Read(process.Below(dir, name), yamlfile.MaxSize)
	if err != nil {
		return othertools.Source{}, command.Usage(err)
	}
	return othertools.Source{Name: name, Data: data}, nil
}

// maxReported bounds the list on standard error. The written file has a longer one.
const maxReported = 200

// report prints the parts that could not be imported. It returns an error if there are no rules.
func report(w io.Writer, name string, res importer.Result) error {
	var b strings.Builder
	for i, p := range res.Unmapped {
		if i == maxReported {
			fmt.Fprintf(&b, "… and %d more\n", len(res.Unmapped)-i)
			break
		}
		fmt.Fprintf(&b, "%s\n", format.Lines(p.Error()))
	}
	if res.Rules > 0 {
		fmt.Fprintf(&b, "%s: %s", sanitize.Log(name), format.Count(res.Rules, "rule"))
		if n := len(res.Unmapped); n > 0 {
			fmt.Fprintf(&b, "; %s without a counterpart", format.Count(n, "place"))
		}
		b.WriteByte('\n')
		if len(res.LeftOut) > 0 {
			b.WriteString("no rule was written for " + format.Names(res.LeftOut) + "\n")
		}
	}
	fmt.Fprint(w, b.String())
	if res.Rules == 0 {
		return command.Failed(fmt.Errorf("%s: nothing in it could be imported", sanitize.Log(name)))
	}
	return nil
}
