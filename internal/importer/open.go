package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/workflow"
	"github.com/org/foreman-action/internal/layout"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

var (
	noteLine = text.Regexp(`^ *# (.+:[0-9]+:[0-9]+: .+)$`)
	joined   = text.Regexp(`^ *# From .+, a configuration of [^ ]+\.$`) // in a file that was imported from several files
	moreLine = text.Regexp(`^ *#   (\S.*)$`)
)

// Open returns the differences from the source that an imported file still lists in its comments,
// as warnings at these lines. It returns none for a file that was not imported.
func Open(name string, src []byte) yamlfile.Problems {
	lines := layout.Lines(src)
	if !strings.HasPrefix(lines[0], head) && !slices.ContainsFunc(lines, joined().MatchString) {
		return nil
	}
	var out yamlfile.Problems
	within := false
	for i, line := range lines {
		note, more := noteLine().FindStringSubmatch(line), moreLine().FindStringSubmatch(line)
		switch {
		case note != nil:
			column := strings.Index(line, "#") + 1
			out = append(out, yamlfile.Problem{File: name, Line: i + 1, Column: column, Warning: true, Source: line, Message: "differs from the original: " + note[1]})
		case within && more != nil:
			out[len(out)-1].Message += " " + more[1]
		}
		within = note != nil || within && more != nil
	}
	return out
}

// Lacking returns the permissions that rules need, such as "issues: write", and that the step of
// the tool lacks, with their place in the workflow. A workflow without "permissions" has no known
// lack.
func Lacking(toolName string, file othertools.Source, needs []string) yamlfile.Problems {
	i := slices.IndexFunc(tools(), func(t tool) bool { return t.Name == toolName })
	var list []workflow.Use
	f, err := yamlfile.Parse(file.Name, file.Data)
	if err == nil && i >= 0 {
		list = workflow.Uses(f.Root(), tools()[i].Action)
	}
	if len(list) == 0 {
		return nil
	}
	given := yamlfile.Child(list[0].Job, "permissions")
	if given == nil {
		given = yamlfile.Child(f.Root(), "permissions")
	}
	if given == nil || given.Value == "write-all" {
		return nil
	}
	var lacks []string
	for _, need := range needs {
		name, level, _ := strings.Cut(need, ": ")
		if !grants(given, name, level) {
			lacks = append(lacks, need)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return yamlfile.Problems{f.At(given, 1, 1, "permissions: Foreman also needs "+strings.Join(lacks, ", ")+"; see foreman rules permissions")}
}

// Crons returns the times at which a workflow starts on the event schedule.
func Crons(file othertools.Source) []string {
	f, err := yamlfile.Parse(file.Name, file.Data)
	if err != nil {
		return nil
	}
	return workflow.Crons(f.Root())
}

// grants reports whether the permissions of a workflow grant a level.
func grants(permissions *yaml.Node, name, level string) bool {
	if permissions.Value == "read-all" {
		return level == "read"
	}
	n := yamlfile.Child(permissions, name)
	return n != nil && (n.Value == "write" || n.Value == level)
}
