package config

import "strings"

// WithoutServices removes settings that send the issue, or write files, to a place that the user
// did not name, because the file may come from an untrusted repository. It returns a warning for
// each.
func (c *Config) WithoutServices() []string {
	var warnings []string
	if c.Agent.URL != "" {
		warnings = append(warnings, "this command does not ask the configured agent; foreman triage --agent URL asks one")
	}
	if c.Memory.Store != "" && c.Memory.Store != "off" {
		warnings = append(warnings, "this command does not use the configured memory")
	}
	c.Agent.URL, c.Agent.Auth, c.Memory = "", "", Memory{}
	return warnings
}

// AnyVariable returns an environment in which every variable is set. A variable for which getenv
// returns "" has a value that is valid for every setting. A nil getenv sets no variable.
func AnyVariable(getenv func(string) string) func(string) string {
	return func(name string) string {
		if getenv != nil {
			if v := getenv(name); v != "" {
				return v
			}
		}
		return "https://" + strings.ToLower(name) + ".example.com"
	}
}
