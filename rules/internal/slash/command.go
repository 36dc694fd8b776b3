// Package slash finds the slash commands in a comment: lines such as "/foreman triage".
package slash

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/markdown"
)

// A Command is a command line of a comment, such as "/foreman triage".
type Command struct {
	Name string // in lower case, such as "triage"
	Rest string // the rest of the line, without space around it
}

const (
	commandPrefix = "/foreman"
	// MaxCommands is how many commands of a comment are returned; later ones are ignored.
	MaxCommands = 10
	maxRest     = 256 // characters of Command.Rest

	byteOrderMark = "\ufeff" // Markdown ignores it at the beginning of a text
)

var commandName = text.Regexp(`^[a-z][a-z0-9_-]{0,31}$`)

// Commands returns the commands of a comment, in order and at most [MaxCommands]. A command is a
// line that begins with "/foreman" and a name, in any case. Invisible characters and spaces other than
// those that make code may be before it. Lines in quotes, lists, tables, code,
// math and HTML are ignored; code that is never closed extends to the end.
func Commands(comment string) []Command {
	var list []Command
	if !strings.Contains(strings.ToLower(comment), commandPrefix) {
		return nil
	}
	for _, line := range markdown.PlainLines(strings.TrimPrefix(comment, byteOrderMark)) {
		if len(list) == MaxCommands {
			break
		}
		if c, ok := commandOf(line); ok {
			list = append(list, c)
		}
	}
	return list
}

func commandOf(line string) (Command, bool) {
	line, ok := markdown.Outdent(line)
	line = strings.TrimLeftFunc(line, func(r rune) bool { return r > unicode.MaxASCII && unicode.In(r, unicode.Zs, unicode.Cf) })
	if !ok || len(line) < len(commandPrefix) || !strings.EqualFold(line[:len(commandPrefix)], commandPrefix) {
		return Command{}, false
	}
	line = line[len(commandPrefix):]
	words := strings.TrimSpace(line)
	if r, _ := utf8.DecodeRuneInString(line); !unicode.IsSpace(r) {
		return Command{}, false
	}
	end := strings.IndexFunc(words+" ", unicode.IsSpace)
	name, rest := strings.ToLower(words[:end]), strings.ReplaceAll(words[end:], "\t", " ")
	if !commandName().MatchString(name) {
		return Command{}, false
	}
	return Command{Name: name, Rest: sanitize.NamePart(strings.TrimSpace(rest), maxRest)}, true
}

// Args returns the words after the command's name. A word that begins with a double quote extends
// to the next double quote, or to the end of the line, including spaces. Empty words are dropped.
func (c Command) Args() []string {
	var list []string
	for rest := c.Rest; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			return list
		}
		var word string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			word, rest, _ = strings.Cut(quoted, `"`)
			word = strings.TrimSpace(word)
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			word, rest = rest[:end], rest[end:]
		}
		if word != "" {
			list = append(list, word)
		}
	}
}

// CheckName returns an error if no command can have that name.
func CheckName(name string) error {
	if alone := strings.TrimSpace(strings.TrimPrefix(name, commandPrefix)); alone != name && commandName().MatchString(alone) {
		return fmt.Errorf("command takes the name alone: command(%q)", alone)
	}
	if !commandName().MatchString(name) {
		return fmt.Errorf("command: %q is not the name of a command; write it like \"triage\"", text.Shorten(name, text.Quoted))
	}
	return nil
}
