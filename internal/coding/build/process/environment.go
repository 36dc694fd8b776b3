package process

import (
	"slices"
	"strings"
)

// common are the variables that every command receives: paths of programs, files and certificates,
// the language, and the proxies.
var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "TEMP", "TMP",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// Forbidden reports whether commands never receive a variable, even if a configuration lists it.
// These are variables of the Actions runner, which contain tokens and the inputs of an action.
// Others give credentials or configuration to git and its tools.
func Forbidden(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GIT_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "GH_TOKEN" || name == "GH_ENTERPRISE_TOKEN" || name == "SSH_AUTH_SOCK" || name == "SSH_ASKPASS"
}

// Local reports whether the value of a variable makes sense only on this machine, such as HOME. A
// container needs its own value.
func Local(name string) bool {
	return slices.Contains([]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TEMP", "TMP"}, name) || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "DOCKER_")
}

// Environment returns the variables of environ that a command receives: the common and the listed
// variables, except those that are [Forbidden]. environ has the form of [os.Environ].
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
