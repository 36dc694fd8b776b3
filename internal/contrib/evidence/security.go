package evidence

import (
	"regexp"

	"github.com/org/foreman-action/triage"
)

// securityTerms are terms of issues that do not belong in public.
var securityTerms = regexp.MustCompile(`(?i)\b(CVE-\d|RCE\b|XSS\b|SQL injection\b|auth(entication)? bypass|private keys?\b|credential leaks?\b|leaked credentials?\b|exploit(s|ed|able|ation)?\b)`)

// Sensitive reports whether an issue is about a weakness that should be reported in private,
// by its labels, title and body.
func Sensitive(i triage.Issue) bool {
	return HasLabel(i.Labels, "security", "vulnerability", "cve") || securityTerms.MatchString(i.Title) || securityTerms.MatchString(clip(i.Body))
}
