package rules

import (
	"github.com/org/foreman-action/rules/internal/slash"
)

// A Command is a command line of a comment, such as "/foreman triage".
type Command struct {
	Name string // in lower case, such as "triage"
	Rest string // the rest of the line, without space around it
}

// Commands returns the commands of a comment, in order and at most 10. A command is a line that
// begins with "/foreman" and a name, in any case. Lines in quotes, code and HTML comments are
// ignored; code that is never closed extends to the end. The caller must check whether the author
// may give a command.
func Commands(comment string) []Command {
	var list []Command
	for _, c := range slash.Commands(comment) {
		list = append(list, Command(c))
	}
	return list
}
