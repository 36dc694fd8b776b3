package evidence

import (
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// securityTerms matches terms of issues that should not be discussed in public.
var securityTerms = text.Regexp(`(?i)\b(CVE-\d|RCE\b|XSS\b|SQL injection\b|auth(entication)? bypass|private keys?\b|credential leaks?\b|leaked credentials?\b|exploit(s|ed|able|ation)?\b)`)

// Sensitive reports whether an issue describes a vulnerability that should be reported in private.
// It checks the labels, the title and the body.
func Sensitive(i triage.Issue) bool {
	return HasLabel(i.Labels, "security", "vulnerability", "cve") || securityTerms().MatchString(i.Title) || securityTerms().MatchString(clip(i.Body))
}
