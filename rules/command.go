package rules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// A Command is a line of a comment that asks Foreman for something.
type Command struct {
	Name string // in lower case, such as "triage"
	Rest string // what follows on the line, without the space around it
}

const (
	commandPrefix = "/foreman"
	maxCommands   = 10  // of one comment; later ones are left out
	maxRest       = 256 // characters of Command.Rest
)

var commandName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// Commands returns the commands of a comment, in order: lines that begin with
// "/foreman" and a name, in any case, and hold no more than what they ask. Lines in
// quotes, in code and in comments of HTML are none, and code that is never closed goes
// on to the end. It says nothing about who may give them: that is for
// the caller to find out. At most 10 are returned.
func Commands(comment string) []Command {
	var list []Command
	for _, line := range plainLines(comment) {
		if len(list) == maxCommands {
			break
		}
		if c, ok := commandOf(line); ok {
			list = append(list, c)
		}
	}
	return list
}

func commandOf(line string) (Command, bool) {
	line, ok := outdent(line)
	if !ok || len(line) < len(commandPrefix) || !strings.EqualFold(line[:len(commandPrefix)], commandPrefix) {
		return Command{}, false
	}
	line = line[len(commandPrefix):]
	if line == "" || line[0] != ' ' && line[0] != '\t' {
		return Command{}, false
	}
	name, rest, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "\t", " "), " ")
	name = strings.ToLower(name)
	if !commandName.MatchString(name) {
		return Command{}, false
	}
	return Command{Name: name, Rest: text.Plain(strings.TrimSpace(rest), maxRest)}, true
}

// checkCommandName says why no command has that name; nil when one may.
func checkCommandName(name string) error {
	if alone := strings.TrimSpace(strings.TrimPrefix(name, commandPrefix)); alone != name && commandName.MatchString(alone) {
		return fmt.Errorf("command takes the name alone: command(%q)", alone)
	}
	if !commandName.MatchString(name) {
		return fmt.Errorf("command: %q is no name of a command; write it like \"triage\"", text.Shorten(name, text.Quoted))
	}
	return nil
}
