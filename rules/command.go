package rules

import "github.com/org/foreman-action/rules/internal/slash"

// A Command is a line of a comment that asks Foreman for something.
type Command struct {
	Name string // in lower case, such as "triage"
	Rest string // the rest of the line, without space around it
}

// Commands returns the commands of a comment, in order: lines that begin with "/foreman"
// and a name, in any case. Lines in quotes, code and HTML comments are none; code that is
// never closed extends to the end. Whether the author may give a command is for the caller
// to check. At most 10 are returned.
func Commands(comment string) []Command {
	var list []Command
	for _, c := range slash.Commands(comment) {
		list = append(list, Command(c))
	}
	return list
}
