// Package script runs tests of a queue.Queue that are written as text.
//
// A line is a call of the queue and its expected result:
//
//	enqueue 1 2 priority=5            # tasks have numbers; each must be added
//	claim by=bot -> 1 attempt=1 until=+5m
//	claim 2                           # this task, not the next one
//	B heartbeat 1 attempt=2 -> lost   # through the second handle of the store
//	advance 5m1s
//	requeue -> 1:pending
//	show 1 -> pending log=1 log.-1.what=requeued
//
// The words before "->" name tasks; key=value and flags are the arguments of the call. Without "->"
// the call must succeed. The words after "->" are the result or the error: empty, notfound,
// notyours, lost, state, or error for any other one. After them, key=value compares a field,
// key~text looks for text in a field, key=* requires a field to be set, and "only" requires all
// other fields to be zero.
//
// Times are relative to the clock. Zero values are "none", "0" or "false". <N> stands for the id of
// task N. The lines from "repeat N" to "end" are run N times. File verbs.go lists the calls;
// macros.go lists lines that stand for several lines.
package script

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// A step is a line of a script.
type step struct {
	text   string            // the whole line
	second bool              // the call uses handle B
	verb   string            // name of the call
	words  []string          // before "->", without arguments
	args   map[string]string // key=value before "->"; a flag has the value "true"
	checks bool              // the line contains "->"
	want   []string          // words after "->"
	fields []fieldCheck      // key=value and key~text after "->"
	only   bool              // all other fields must be zero
}

// A fieldCheck compares a field of a result.
type fieldCheck struct {
	key, value string
	contains   bool
}

// holds reports whether a result's field has the expected value.
func (c fieldCheck) holds(got string) bool {
	switch {
	case c.contains:
		return strings.Contains(got, c.value)
	case c.value == "*":
		return !isZero(got)
	}
	return got == c.value
}

// parse returns the steps of a script, with macros and repetitions expanded.
func parse(script string) ([]step, error) {
	lines, err := expand(strings.Split(strings.TrimSpace(script), "\n"))
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, line := range lines {
		s, err := parseStep(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// expand returns the lines that are calls, with macros and repetitions expanded.
func expand(lines []string) ([]string, error) {
	var out []string
	for i := 0; i < len(lines); i++ {
		line, _, _ := strings.Cut(lines[i]+" ", "# ")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "repeat":
			n, err := strconv.Atoi(words[1])
			end := i + 1
			for end < len(lines) && strings.TrimSpace(lines[end]) != "end" {
				end++
			}
			if err != nil || end == len(lines) {
				return nil, fmt.Errorf("%q has no number or no end", line)
			}
			body, err := expand(lines[i+1 : end])
			if err != nil {
				return nil, err
			}
			for range n {
				out = append(out, body...)
			}
			i = end
		case macro(words[0]) != "":
			text := macro(words[0])
			for n := range 3 {
				word := ""
				if n+1 < len(words) {
					word = words[n+1]
				}
				text = strings.ReplaceAll(text, "$"+strconv.Itoa(n+1), word)
			}
			out = append(out, strings.Split(text, "\n")...)
		default:
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out, nil
}

// token matches a word, or a key with a quoted value.
var token = regexp.MustCompile(`[a-z0-9.-]+[=~]"(?:[^"\\]|\\.)*"|\S+`)

func parseStep(line string) (step, error) {
	s := step{text: line, args: map[string]string{}}
	call, want, checks := strings.Cut(line, "->")
	s.checks = checks
	words := token.FindAllString(call, -1)
	if len(words) > 0 && words[0] == "B" {
		s.second, words = true, words[1:]
	}
	if len(words) == 0 {
		return s, fmt.Errorf("no call")
	}
	s.verb = words[0]
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case ok:
			value, err := unquote(value)
			if err != nil {
				return s, err
			}
			s.args[key] = value
		case isFlag(word):
			s.args[word] = "true"
		default:
			word, err := unquote(word)
			if err != nil {
				return s, err
			}
			s.words = append(s.words, numbers(word)...)
		}
	}
	for _, word := range token.FindAllString(want, -1) {
		i := strings.IndexAny(word, "=~")
		switch {
		case word == "only":
			s.only = true
		case i < 0:
			s.want = append(s.want, numbers(word)...)
		default:
			value, err := unquote(word[i+1:])
			if err != nil {
				return s, err
			}
			s.fields = append(s.fields, fieldCheck{word[:i], value, word[i] == '~'})
		}
	}
	return s, nil
}

// isFlag reports whether a word is an argument without a value.
func isFlag(word string) bool { return word == "coalesce" || word == "free" }

func unquote(value string) (string, error) {
	if strings.HasPrefix(value, `"`) {
		return strconv.Unquote(value)
	}
	return value, nil
}

// numbers returns the words for a range such as "1..3" or "3..1". Any other word is returned alone.
func numbers(word string) []string {
	from, to, ok := strings.Cut(word, "..")
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if !ok || err != nil || err2 != nil {
		return []string{word}
	}
	var out []string
	for n := first; ; {
		out = append(out, strconv.Itoa(n))
		switch {
		case n < last:
			n++
		case n > last:
			n--
		default:
			return out
		}
	}
}

// arguments are the arguments of a call. The call removes each one that it reads.
type arguments map[string]string

func (s step) arguments() arguments { return maps.Clone(arguments(s.args)) }
