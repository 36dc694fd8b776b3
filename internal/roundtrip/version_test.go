package roundtrip_test

import (
	"testing"

	"github.com/org/foreman-action/internal/roundtrip"
)

func TestGitHubVersion(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"":                                       "2026-03-10",
		"/":                                      "2026-03-10",
		"https://api.github.com":                 "2026-03-10",
		"https://api.octo.ghe.com/":              "2026-03-10",
		"/api/v3/":                               "2022-11-28",
		"https://github.example.com/api/v3":      "2022-11-28",
		"https://github.example.com/api/v3/":     "2022-11-28",
		"https://proxy.example/github/api/v3":    "2022-11-28",
		"https://proxy.example/api/v3/elsewhere": "2026-03-10",
	} {
		if got := roundtrip.GitHubVersion(api); got != want {
			t.Errorf("%s: got %s, want %s", api, got, want)
		}
	}
}
