package serverconfig

import (
	"strings"

	"github.com/org/foreman-action/internal/config/schema"
)

// Polling configures how the server polls GitHub for issues.
type Polling struct {
	Interval    Seconds `default:"60"   yaml:"interval_seconds"`
	FirstRun    int     `default:"100"  yaml:"first_run"`   // most issues of a repository's first poll
	Maintainers string  `default:"skip" yaml:"maintainers"` // "skip" or "include" their issues
	Enabled     bool    `default:"true" yaml:"enabled"`
	// Ignore lists logins, such as "stale[bot]". Their issues are ignored, and their changes count
	// as the server's own.
	Ignore []string `yaml:"ignore"`
}

func pollingKeys() schema.Table {
	login := schema.Text("logins, such as stale[bot]", func(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n@/") })
	return schema.Table{
		{Path: "polling", Doc: "Polling of GitHub for issues."},
		{Path: "polling.interval_seconds", Rule: between(1, maxSeconds), Doc: "Time between two polls of a repository; default 60."},
		{Path: "polling.first_run", Rule: between(0, 100_000), Doc: "Maximum number of issues in a repository's first poll, the newest first; default 100."},
		{Path: "polling.maintainers", Rule: schema.OneOf("skip", "include"),
			Doc: "Whether issues of maintainers are skipped (skip, the default) or handed on (include)."},
		{Path: "polling.enabled", JSON: boolean(), Doc: "Whether GitHub is polled; use false with webhooks. Default true."},
		{Path: "polling.ignore", Rule: schema.Each(login),
			Doc: "Logins, such as stale[bot], whose issues are left out, and whose changes count as the server's own."},
	}
}

// check turns polling off if there is neither a token nor an App.
func (p *Polling) check(f file, i *Identity) {
	if !f.shadow() || !i.none() {
		return
	}
	if at := f.node("polling", "enabled"); at != nil && p.Enabled {
		f.Problemf(at, "polling.enabled: polling needs a token; set one under identity, or leave this key out")
	}
	p.Enabled = false
}
