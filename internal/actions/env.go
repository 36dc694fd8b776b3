package actions

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// An Env is the context of the step, from the GITHUB_ variables that the runner
// sets. A variable that is not set leaves the field empty unless noted.
//
// The token is not part of it: see [Values].
type Env struct {
	EventName    string // such as "issues"
	EventPath    string // path of the file with the event's payload
	Repository   string // "owner/name"
	RepositoryID string // decimal
	RunID        string // decimal; the same for every attempt
	RunAttempt   int    // from 1; 1 when the variable is not set
	Job          string // id of the job in the workflow
	Step         string // id of the step, or a name that the runner generated
	Workspace    string // folder of the checkout; an empty folder without a checkout
	APIURL       string // without a final slash; https://api.github.com by default
	ServerURL    string // without a final slash; https://github.com by default
	Actor        string // login that started the run
	Workflow     string // name of the workflow, or its path
	Ref          string // full git ref, such as "refs/heads/main"
	Commit       string // of Ref when the run was started: the full hash
	Actions      bool   // running inside Actions
	Debug        bool   // debug logging is on for this run
}

func readEnv(getenv func(string) string) Env {
	attempt, err := strconv.Atoi(getenv("GITHUB_RUN_ATTEMPT"))
	if err != nil || attempt < 1 {
		attempt = 1
	}
	base := func(name, otherwise string) string { return cmp.Or(strings.TrimRight(getenv(name), "/"), otherwise) }
	return Env{
		EventName:    getenv("GITHUB_EVENT_NAME"),
		EventPath:    getenv("GITHUB_EVENT_PATH"),
		Repository:   getenv("GITHUB_REPOSITORY"),
		RepositoryID: getenv("GITHUB_REPOSITORY_ID"),
		RunID:        getenv("GITHUB_RUN_ID"),
		RunAttempt:   attempt,
		Job:          getenv("GITHUB_JOB"),
		Step:         getenv("GITHUB_ACTION"),
		Workspace:    getenv("GITHUB_WORKSPACE"),
		APIURL:       base("GITHUB_API_URL", "https://api.github.com"),
		ServerURL:    base("GITHUB_SERVER_URL", "https://github.com"),
		Actor:        getenv("GITHUB_ACTOR"),
		Workflow:     getenv("GITHUB_WORKFLOW"),
		Ref:          getenv("GITHUB_REF"),
		Commit:       getenv("GITHUB_SHA"),
		Actions:      getenv("GITHUB_ACTIONS") == "true",
		Debug:        getenv("RUNNER_DEBUG") == "1",
	}
}

// Owner returns the part of Repository before the slash.
func (e Env) Owner() string {
	owner, _, _ := strings.Cut(e.Repository, "/")
	return owner
}

// Name returns the part of Repository after the slash.
func (e Env) Name() string {
	_, name, _ := strings.Cut(e.Repository, "/")
	return name
}

// RunURL returns the address of this attempt's page, empty outside a run.
func (e Env) RunURL() string {
	if e.Repository == "" || e.RunID == "" {
		return ""
	}
	return e.ServerURL + "/" + url.PathEscape(e.Owner()) + "/" + url.PathEscape(e.Name()) +
		"/actions/runs/" + url.PathEscape(e.RunID) + "/attempts/" + strconv.Itoa(max(e.RunAttempt, 1))
}
