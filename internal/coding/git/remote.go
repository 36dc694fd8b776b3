package git

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// A Remote is a server that commands of git may reach.
type Remote struct {
	Server string // such as https://github.com
	Token  string // sent only to this server; empty: no token
	// Environ is the program's environment. Git receives its proxies and certificates.
	Environ []string
	// Rewrites applies the URL rewrites of the environment, such as
	// GIT_CONFIG_KEY_0=url.BASE.insteadOf, as git does. With a BASE that begins with file://, git can
	// read repositories on this machine.
	Rewrites bool
}

// Vars returns the variables that let git connect to the server, for [Repo.Vars]. The token is in
// a variable, not in an argument, because other users of the machine can see arguments.
func (r Remote) Vars() []string {
	scheme, _, _ := strings.Cut(r.Server, ":")
	protocols := []string{scheme}
	config := [][2]string{
		// Git ends a connection that transfers less than 1 byte a second for 60 seconds.
		{"http.lowSpeedLimit", "1"},
		{"http.lowSpeedTime", "60"},
	}
	if r.Token != "" {
		config = append(config,
			[2]string{"http." + r.Server + "/.extraHeader", "Authorization: Basic " + r.basic()},
			[2]string{"http.followRedirects", "false"}) // a redirect would get the header, too
	}
	if r.Rewrites {
		for _, rewrite := range rewrites(r.Environ) {
			config = append(config, rewrite)
			if strings.HasPrefix(rewrite[0], "url.file://") {
				protocols = append(protocols, "file")
			}
		}
	}
	vars := []string{"GIT_ALLOW_PROTOCOL=" + strings.Join(protocols, ":"), "GIT_CONFIG_COUNT=" + strconv.Itoa(len(config))}
	for i, entry := range config {
		n := strconv.Itoa(i)
		vars = append(vars, "GIT_CONFIG_KEY_"+n+"="+entry[0], "GIT_CONFIG_VALUE_"+n+"="+entry[1])
	}
	keep := []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"}
	for _, variable := range r.Environ {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(keep, strings.ToUpper(name)) {
			vars = append(vars, variable)
		}
	}
	return vars
}

// Secrets returns the texts that must not appear in errors or logs: the token, and its Base64 form
// in the HTTP header.
func (r Remote) Secrets() []string {
	if r.Token == "" {
		return nil
	}
	return []string{r.Token, r.basic()}
}

func (r Remote) basic() string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + r.Token))
}

// rewrites returns the url.*.insteadOf entries among the variables GIT_CONFIG_KEY_n.
func rewrites(environ []string) [][2]string {
	vars := map[string]string{}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && strings.HasPrefix(name, "GIT_CONFIG_") {
			vars[name] = value
		}
	}
	count, err := strconv.Atoi(vars["GIT_CONFIG_COUNT"])
	const most = 1000
	if err != nil || count > most {
		return nil
	}
	var found [][2]string
	for i := range count {
		key, value := vars["GIT_CONFIG_KEY_"+strconv.Itoa(i)], vars["GIT_CONFIG_VALUE_"+strconv.Itoa(i)]
		lower := strings.ToLower(key)
		if strings.HasPrefix(lower, "url.") && strings.HasSuffix(lower, ".insteadof") {
			found = append(found, [2]string{key, value})
		}
	}
	return found
}
