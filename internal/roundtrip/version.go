package roundtrip

import "strings"

// GitHubVersion returns the version of GitHub's REST API to request from the API with an address, or only a path. An
// Enterprise Server, whose path is /api/v3, gets the version that all its supported releases have.
func GitHubVersion(api string) string {
	if strings.HasSuffix(strings.TrimSuffix(api, "/"), "/api/v3") {
		return "2022-11-28"
	}
	return "2026-03-10"
}
