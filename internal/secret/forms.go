package secret

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// forms are texts that look like credentials: GitHub's, GitLab's, Slack's, AWS's, Google's,
// npm's and model providers' tokens, private keys, header values, and passwords in addresses.
var forms = text.Regexp(
	`\bgh[pousr]_[A-Za-z0-9]{20,}` +
		`|\bgithub_pat_[A-Za-z0-9_]{20,}` +
		`|\bglpat-[A-Za-z0-9_-]{16,}` +
		`|\bxox[abeprs]-[A-Za-z0-9-]{10,}` +
		`|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b` +
		`|\bAIza[A-Za-z0-9_-]{30,}` +
		`|\bnpm_[A-Za-z0-9]{30,}` +
		`|\bsk-[A-Za-z0-9_-]{20,}` +
		`|-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)` +
		`|(?i)\b(?:authorization|proxy-authorization)["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token)\s+)?[A-Za-z0-9+/=._~-]{8,}` +
		`|[a-z][a-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@`,
)

// marks are parts of the forms. A text without any mark contains no form. The search for marks
// takes one hundredth of the expression's time.
var marks = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza", "npm_", "sk-", "PRIVATE KEY-----", "://",
}

// RedactForms replaces all texts that look like a credential. It misses credentials without a
// typical form; pass known ones to [Redact].
func RedactForms(text string) string {
	if !marked(text) {
		return text
	}
	return forms().ReplaceAllString(text, mask)
}

// HasForm reports whether a part of a text looks like a credential.
func HasForm(text string) bool { return marked(text) && forms().MatchString(text) }

func marked(text string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(text, mark) }) ||
		strings.Contains(strings.ToLower(text), "authorization")
}
