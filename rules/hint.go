package rules

import (
	"regexp"
	"strings"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
)

// actionHint says which action an unknown name most likely stands for.
func actionHint(name string, known []string) string {
	meant := map[string]string{
		"label":     protocol.ActionAddLabel,
		"labels":    protocol.ActionAddLabels,
		"unlabel":   protocol.ActionRemoveLabel,
		"close":     protocol.ActionCloseIssue,
		"reopen":    protocol.ActionReopenIssue,
		"milestone": protocol.ActionSetMilestone,
		"type":      protocol.ActionSetType,
		"reply":     protocol.ActionComment,
		"duplicate": protocol.ActionMarkDuplicate,
	}[strings.ToLower(name)]
	if meant != "" {
		return "; write " + meant
	}
	return strictyaml.DidYouMean(name, known)
}

var (
	mismatched   = regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types (\S+) and (\S+)\)$`)
	operatorCase = regexp.MustCompile(`^unexpected token Identifier\("((?i:and|or|not|in|contains|startsWith|endsWith|matches))"\)`)
	operatorCall = regexp.MustCompile(`^unexpected token Operator\("(contains|startsWith|endsWith|matches)"\)`)
)

// operatorHint says how an operator that does not fit its operands is replaced; ""
// when msg is about something else.
func operatorHint(msg string) string {
	if m := operatorCall.FindStringSubmatch(msg); m != nil {
		return "; " + m[1] + " stands between two texts: write a " + m[1] + " b"
	}
	if m := operatorCase.FindStringSubmatch(msg); m != nil {
		for _, op := range []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches"} {
			if strings.EqualFold(op, m[1]) {
				return "; write " + op
			}
		}
	}
	m := mismatched.FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	op, left, right := m[1], m[2], m[3]
	switch {
	case left == "[]string" && right == "string" && (op == "contains" || op == "==" || op == "!="):
		return `; whether a list holds a text is asked with in: "bug" in issue.labels`
	case left == "time.Time" && right == "string" || left == "string" && right == "time.Time":
		return `; a time is compared with another: date("2024-01-31")`
	}
	return ""
}
