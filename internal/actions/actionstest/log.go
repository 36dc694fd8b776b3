package actionstest

import (
	"strings"
	"unicode"
)

// A Command is a workflow command that the runner finds in a log.
type Command struct {
	Line       int               // of the log, from 1
	Name       string            // in lower case: names are compared without regard to case
	Properties map[string]string // unescaped
	Data       string            // unescaped
	Legacy     bool              // of the form ##[name]data
}

// ParseLog returns the workflow commands in a log. Like the runner, it finds
// "::name properties::data" at the start of a line, after optional white space, or else
// "##[name properties]data" anywhere in the line. The runner accepts only the names it knows.
// ParseLog accepts any name, so that a test also finds commands that a later runner may add.
func ParseLog(log string) []Command {
	// A byte order mark at the start of a stream is not part of its first line.
	log = strings.TrimPrefix(log, "\uFEFF")
	log = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(log)
	var found []Command
	for i, line := range strings.Split(log, "\n") {
		c, ok := parseCommand(line)
		if !ok {
			c, ok = parseLegacy(line)
		}
		if ok {
			c.Line = i + 1
			found = append(found, c)
		}
	}
	return found
}

func parseCommand(line string) (Command, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::")
	if !ok {
		return Command{}, false
	}
	info, data, ok := strings.Cut(rest, "::")
	if !ok {
		return Command{}, false
	}
	name, properties, _ := strings.Cut(info, " ")
	return Command{
		Name:       strings.ToLower(name),
		Properties: parseProperties(strings.TrimSpace(properties), ",", unescapeProperty),
		Data:       unescape(data, "\r", "\n", "%"),
	}, true
}

func parseLegacy(line string) (Command, bool) {
	_, rest, ok := strings.Cut(line, "##[")
	if !ok {
		return Command{}, false
	}
	info, data, ok := strings.Cut(rest, "]")
	if !ok {
		return Command{}, false
	}
	name, properties, _ := strings.Cut(info, " ")
	return Command{
		Name:       strings.ToLower(name),
		Properties: parseProperties(properties, ";", unescapeLegacy),
		Data:       unescapeLegacy(data),
		Legacy:     true,
	}, true
}

func parseProperties(text, separator string, unescape func(string) string) map[string]string {
	properties := map[string]string{}
	for pair := range strings.SplitSeq(text, separator) {
		if key, value, ok := strings.Cut(pair, "="); ok && key != "" && value != "" {
			properties[key] = unescape(value)
		}
	}
	return properties
}

func unescapeProperty(s string) string { return unescape(s, "\r", "\n", ":", ",", "%") }

func unescapeLegacy(s string) string { return unescape(s, ";", "\r", "\n", "]", "%") }

// unescape undoes the percent escapes of the characters given, in that order.
func unescape(s string, characters ...string) string {
	escapes := map[string]string{
		"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C", ";": "%3B", "]": "%5D",
	}
	for _, c := range characters {
		s = strings.ReplaceAll(s, escapes[c], c)
	}
	return s
}
