package session

import (
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
)

// Server returns the URL of GitHub without a trailing slash. The first of these that is set
// counts: GH_HOST, which gh reads too, GITHUB_SERVER_URL, the server of GITHUB_API_URL,
// github.com.
func (s Session) Server() string {
	if host := s.ghHost(); host != "" {
		return "https://" + host
	}
	if server := strings.TrimSuffix(s.Getenv("GITHUB_SERVER_URL"), "/"); strings.HasPrefix(server, "https://") || strings.HasPrefix(server, "http://127.0.0.1:") {
		return server
	}
	if api := s.Getenv("GITHUB_API_URL"); strings.HasPrefix(api, "https://") {
		return "https://" + HostOf(api)
	}
	return "https://github.com"
}

// API returns the address of GitHub's API; empty: that of github.com.
func (s Session) API() string {
	switch host := s.ghHost(); {
	case host == "":
		return s.Getenv("GITHUB_API_URL")
	case host == "github.com":
		return ""
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + host
	default:
		return "https://" + host + "/api/v3"
	}
}

// ghHost returns the host that GH_HOST names, parsed as gh does.
func (s Session) ghHost() string {
	host := strings.ToLower(strings.TrimSpace(s.Getenv("GH_HOST")))
	if strings.HasSuffix(host, ".github.com") {
		return "github.com"
	}
	return host
}

// HostOf returns the host of an API or server URL, without the port; empty if it is not a URL.
func HostOf(address string) string {
	if address == "" {
		return "github.com"
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if api, ok := strings.CutPrefix(host, "api."); ok && (api == "github.com" || strings.HasSuffix(api, ".ghe.com")) {
		return api
	}
	return host
}

// Tokens returns the names of the variables with tokens for a host, in gh's order. The variables
// for GitHub's own hosts are not used for other hosts.
func Tokens(host string) []string {
	if host == "github.com" || strings.HasSuffix(host, ".ghe.com") {
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	}
	return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
}

// SignIn returns the next step after GitHub refused the token for a host. gh auth login refuses to
// run if an environment variable has a token.
func (s Session) SignIn(host string) contract.Next {
	if _, name := s.Token(host); name != "" {
		return contract.Instruct(contract.ActionAuthenticate, "GitHub refuses the token in "+name+". Set "+name+" to another one, or unset it and run gh auth login. Then run the command again.")
	}
	return contract.Run(contract.ActionAuthenticate, "gh auth login")
}

// Token returns the token for a host from the environment, and the name of its variable. Both are
// empty if there is no token.
func (s Session) Token(host string) (value, name string) {
	for _, name := range Tokens(host) {
		if value := strings.TrimSpace(s.Getenv(name)); value != "" {
			return value, name
		}
	}
	return "", ""
}
