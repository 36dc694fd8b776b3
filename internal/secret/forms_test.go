package secret_test

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/secret"
)

func TestRedactForms(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("aB3", 12)
	hidden := []string{
		"token ghp_" + long, "x=github_pat_" + long, "gho_" + long, "ghu_" + long, "ghs_" + long, "ghr_" + long, "key ASIA" + strings.Repeat("A1", 8), "key AKIA" + strings.Repeat("A1", 8), "xoxb-123456789012-abc",
		"glpat-" + long, "AIza" + long, "npm_" + long, "sk-ant-" + long,
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIIE",
		"Authorization: Bearer abcdefghij", `"authorization": "token abcdefghij"`, "AUTHORIZATION: basic eDpneHg6eQ==", "Proxy-Authorization=abcdefghij", "https://user:pass@example.com/", "postgres://:pw@host/db",
	}
	for _, text := range hidden {
		got := secret.RedactForms("before " + text + " after")
		if !secret.HasForm(text) || !strings.Contains(got, "***") || !strings.HasPrefix(got, "before ") {
			t.Errorf("%q: got %q", text, got)
		}
		for _, part := range []string{long, "MIIE", "abcdefghij", "pass", "pw@", "eDpneHg6eQ"} {
			if strings.Contains(got, part) {
				t.Errorf("%q: got %q, which shows %q", text, got, part)
			}
		}
	}
	for _, text := range []string{"ghp_short", "the authorization of users", "https://example.com/a:b@c", "mailto:a@b.c", "task-sk-1", "Authorization: Bearer $TOKEN", "-----BEGIN CERTIFICATE-----"} {
		if got := secret.RedactForms(text); got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
}
