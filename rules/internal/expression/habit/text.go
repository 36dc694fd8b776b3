// Package habit answers mistakes that the habits of other languages bring into expressions: it returns
// what to write instead.
package habit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

var (
	slashes = text.Regexp(`^/((?:[^/\\]|\\.)+)/([a-z]*)`)
	glob    = text.Regexp("\\b(label|any_label|any_file|all_files)\\(\\s*([^\\s\"'`,()]*\\*[^\\s\"'`,()]*)")
	piped   = text.Regexp(`([\w.]+)\s*\|\s*(\w+)\s*$`)
	number  = text.Regexp(`^bad number syntax: "(\d+(?:w|d|h|m|s))"$`)
)

// Syntax returns the message for a text that is no expression, if a habit explains it; "" if none
// does. msg is the parser's message about the place, the character at (from 0).
func Syntax(src, msg string, at int) string {
	chars := []rune(src)
	at = min(max(at, 0), len(chars))
	before, rest := string(chars[:at]), string(chars[at:])
	if m := glob().FindStringSubmatch(src); m != nil {
		return fmt.Sprintf("a text stands in quotes: %s(%q)", m[1], text.Shorten(m[2], text.Quoted))
	}
	switch {
	case strings.Contains(src, "${{"):
		return "a condition is an expression by itself; write it without ${{ }}"
	case strings.Contains(msg, `Operator("=")`) && strings.HasPrefix(rest, "=~"), strings.HasPrefix(rest, "~") && strings.HasSuffix(before, "="):
		return "there is no =~; write matches and a pattern in backticks: issue.title matches `(?i)panic`"
	case strings.Contains(msg, `Operator("=")`) && (strings.HasPrefix(rest, "=>") || strings.HasPrefix(rest, ">") && strings.HasSuffix(before, "=")):
		return `there is no =>; the item of a loop is written #: any(issue.labels, # == "bug")`
	case strings.Contains(msg, `Operator(">")`) && strings.HasSuffix(strings.TrimSpace(before), "<"):
		return "there is no <>; write !="
	case strings.Contains(msg, `Operator("/")`):
		if m := slashes().FindStringSubmatch(rest); m != nil {
			return "a pattern is a text, best in backticks; write " + pattern(m[1], m[2])
		}
	case strings.Contains(msg, "unrecognized character") && strings.ContainsAny(msg, "“”„‘’"):
		return `these quotes are typographic; write straight ones: "bug"`
	case strings.Contains(msg, "unexpected token EOF"):
		before = src
		if open := unclosed(src); open != "" {
			return "the expression ends too early: " + open
		}
	case strings.Contains(msg, "unclosed comment"):
		return "/* starts a comment, which is not closed; a text stands in quotes"
	}
	if m := piped().FindStringSubmatch(before); m != nil && strings.Contains(msg, "unexpected token") {
		return text.Shorten(fmt.Sprintf("a function is called with its value: write %s(%s)", m[2], m[1]), 2*text.Quoted)
	}
	if m := number().FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("a length of time is written duration(%q)", m[1])
	}
	return ""
}

// pattern writes a pattern of JavaScript as a text.
func pattern(body, flags string) string {
	kept := ""
	for _, f := range flags {
		if strings.ContainsRune("ims", f) {
			kept += string(f)
		}
	}
	if kept != "" {
		kept = "(?" + kept + ")"
	}
	return text.Shorten("`"+kept+strings.ReplaceAll(body, `\/`, "/")+"`", text.Quoted)
}

// unclosed reports the innermost bracket that is open at the end; "" if there is none.
func unclosed(src string) string {
	var open []rune
	quote := rune(0)
	for _, r := range src {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case strings.ContainsRune("\"'`", r):
			quote = r
		case strings.ContainsRune("([{", r):
			open = append(open, r)
		case strings.ContainsRune(")]}", r) && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return ""
	}
	last := open[len(open)-1]
	return fmt.Sprintf("%q is not closed; write %q", string(last), map[rune]string{'(': ")", '[': "]", '{': "}"}[last])
}

// Name returns the name of the language for one of GitHub's workflows or of another program; "" if
// none fits. fields are the fields of the issue.
func Name(name string, fields []string) string {
	if slices.Contains(fields, name) {
		return "; write issue." + name
	}
	switch strings.ToLower(name) {
	case "null", "undefined", "none":
		return `; no field is ever missing: compare a text with "", a number with 0, and len(…) of a list with 0`
	case "true", "yes":
		return "; write true"
	case "false", "no":
		return "; write false"
	case "github", "context", "payload", "env", "steps", "inputs", "secrets":
		return "; conditions have issue, pr, event, actor and repo; github.actor is actor.login"
	case "user", "sender":
		return "; write issue.author, or actor.login for who caused the event"
	case "pull_request", "pull":
		return "; write pr, or issue for what issues and pull requests have"
	case "comment":
		return "; the event's comment is event.comment: event.comment.body, event.comment.author"
	case "action":
		return "; write event.action"
	case "days_since", "age", "days", "hours_since", "ago", "elapsed":
		return `; an age is written now - issue.updated_at > duration("30d")`
	case "regex", "match", "test", "regexp":
		return "; write issue.title matches `…`"
	case "size", "length":
		return "; write len(…)"
	case "today", "current_date":
		return "; write now"
	case "has_label", "haslabel":
		return `; write label("bug")`
	}
	return ""
}

// Call returns an example of a call of a function.
func Call(function string) string {
	switch function {
	case "command":
		return `command("close"); the text of the comment is event.comment.body`
	case "label", "label_age", "added_by_us", "removed_by_human":
		return function + `("bug")`
	case "any_label":
		return `any_label("kind/*")`
	case "any_file", "all_files":
		return function + `("docs/**")`
	case "duration":
		return `duration("14d")`
	case "idle", "last_human":
		return function + "()"
	}
	return function + "(…)"
}

// Field returns what to write instead of an unknown field of a root, such as issue; "" if none fits.
func Field(root, name string) string {
	name = strings.ToLower(name)
	switch {
	case root == "issue" && (name == "age" || name == "days" || name == "days_old"):
		return "; write now - issue.created_at"
	case (root == "issue" || root == "pr") && name == "comment":
		return "; the event's comment is event.comment: event.comment.body, event.comment.author"
	case (root == "issue" || root == "pr") && name == "author_association":
		return "; write issue.association"
	case root == "comment" && name == "author_association":
		return "; write event.comment.association"
	case (root == "issue" || root == "pr") && name == "label":
		return `; write label("bug")`
	case name == "login" && root == "issue":
		return "; write issue.author"
	case name == "is_bot" || name == "bot":
		return `; write actor.type == "Bot"`
	}
	return ""
}
