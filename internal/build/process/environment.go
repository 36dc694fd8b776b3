package process

import (
	"slices"
	"strings"
)

// common are the variables that every command gets: where programs, files and
// certificates are, the language, and the proxies.
var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "TEMP", "TMP",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// Forbidden reports whether a variable never reaches a command, even if a configuration lists
// it: variables of the Actions runner, with tokens and the inputs of an action, and those that
// give git and its tools credentials or other configuration.
func Forbidden(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GIT_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "GH_TOKEN" || name == "GH_ENTERPRISE_TOKEN" || name == "SSH_AUTH_SOCK" || name == "SSH_ASKPASS"
}

// Local reports whether a variable describes this machine and its user, so that a container needs
// its own value.
func Local(name string) bool {
	return slices.Contains([]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TEMP", "TMP"}, name) || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "DOCKER_")
}

// Environment returns those of the variables in environ, as [os.Environ] returns them,
// that a command gets: the common ones and those that are listed, none that is
// [Forbidden].
func Environment(environ, listed []string) []string {
	passed := []string{}
	for _, variable := range environ {
		name, _, ok := strings.Cut(variable, "=")
		if !ok || Forbidden(name) {
			continue
		}
		if slices.Contains(common, name) || strings.HasPrefix(name, "LC_") || slices.Contains(listed, name) {
			passed = append(passed, variable)
		}
	}
	return passed
}
