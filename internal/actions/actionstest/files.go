// Package actionstest replaces the Actions runner in tests: it makes the environment of a step,
// and reads the step's results as the runner does.
package actionstest

import (
	"fmt"
	"strings"
)

// A Pair is one NAME and its VALUE in a file of outputs or environment variables.
type Pair struct {
	Name, Value string
}

// ParseFileCommands reads the text of GITHUB_OUTPUT, GITHUB_ENV or GITHUB_STATE as the runner does.
// It skips empty lines. A line in which "=" comes before any "<<" is NAME=VALUE; otherwise it is
// NAME<<DELIMITER, and the value ends before a line that equals the delimiter. Only a line feed
// ends a line. A line with neither sign and a missing delimiter are errors; the pairs before the
// error are returned.
func ParseFileCommands(text string) ([]Pair, error) {
	var pairs []Pair
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			pairs = append(pairs, Pair{line[:equals], line[equals+1:]})
		case heredoc > 0 && heredoc+2 < len(line):
			value, rest, ok := cutHeredoc(text, line[heredoc+2:])
			if !ok {
				return pairs, fmt.Errorf("the delimiter %q of %q is missing", line[heredoc+2:], line[:heredoc])
			}
			pairs = append(pairs, Pair{line[:heredoc], value})
			text = rest
		default:
			return pairs, fmt.Errorf("line %q is neither NAME=VALUE nor NAME<<DELIMITER", line)
		}
	}
	return pairs, nil
}

// cutHeredoc returns the text before the line with the delimiter, without its last line break,
// and the text after that line.
func cutHeredoc(text, delimiter string) (value, rest string, ok bool) {
	var lines []string
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line == delimiter {
			return strings.Join(lines, "\n"), text, true
		}
		lines = append(lines, line)
	}
	return "", "", false
}
