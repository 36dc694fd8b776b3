package githubtest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

type route struct {
	method string
	parts  []string
	handle handler
}

// routes is the table of the fake's endpoints.
func routes() []route {
	const repo = "/repos/{owner}/{repo}"
	const one = repo + "/issues/{number}"
	return []route{
		at("GET", "/rate_limit", rateLimit),
		at("GET", "/user", currentUser),
		at("GET", "/users/{login}", getUser),
		at("POST", graphQLPath, graphQL),
		at("GET", "/search/issues", search),
		at("GET", "/app", getApp),
		at("POST", "/app/installations/{id}/access_tokens", createToken),
		at("GET", "/app/hook/deliveries", listDeliveries),
		at("POST", "/app/hook/deliveries/{delivery}/attempts", redeliver),
		at("GET", repo+"/hooks", inRepo(listHooks)),
		at("GET", repo+"/hooks/{id}/deliveries", inRepo(listDeliveries)),
		at("POST", repo+"/hooks/{id}/deliveries/{delivery}/attempts", inRepo(redeliver)),
		at("GET", repo+"/installation", inRepo(getInstallation)),
		at("GET", repo, inRepo(getRepo)),
		at("GET", repo+"/assignees/{login}", inRepo(getAssignee)),
		at("GET", repo+"/collaborators/{login}/permission", inRepo(getPermission)),
		at("GET", repo+"/commits/{ref}", inRepo(getCommit)),
		at("GET", repo+"/contents", inRepo(getContents)),
		at("GET", repo+"/contents/{path...}", inRepo(getContents)),
		at("GET", repo+"/git/trees/{sha}", inRepo(getTree)),
		at("GET", repo+"/labels", inRepo(listRepoLabels)),
		at("POST", repo+"/labels", inRepo(createLabel)),
		at("GET", repo+"/labels/{name}", inRepo(getLabel)),
		at("DELETE", repo+"/labels/{name}", inRepo(deleteLabel)),
		at("GET", repo+"/milestones", inRepo(listMilestones)),
		at("GET", repo+"/issues", inRepo(listIssues)),
		at("POST", repo+"/issues", inRepo(createIssue)),
		at("GET", repo+"/issues/comments", inRepo(listRepoComments)),
		at("GET", repo+"/issues/comments/{id}", inRepo(getComment)),
		at("PATCH", repo+"/issues/comments/{id}", inRepo(updateComment)),
		at("DELETE", repo+"/issues/comments/{id}", inRepo(deleteComment)),
		at("GET", repo+"/issues/comments/{id}/reactions", inRepo(listCommentReactions)),
		at("POST", repo+"/issues/comments/{id}/reactions", inRepo(createCommentReaction)),
		at("GET", one, onIssue(getIssue)),
		at("PATCH", one, onIssue(editIssue)),
		at("GET", one+"/comments", onIssue(listComments)),
		at("POST", one+"/comments", onIssue(createComment)),
		at("GET", one+"/labels", onIssue(listLabels)),
		at("POST", one+"/labels", onIssue(addLabels)),
		at("PUT", one+"/labels", onIssue(replaceLabels)),
		at("DELETE", one+"/labels/{name}", onIssue(removeLabel)),
		at("POST", one+"/assignees", onIssue(addAssignees)),
		at("DELETE", one+"/assignees", onIssue(removeAssignees)),
		at("PUT", one+"/lock", onIssue(lock)),
		at("DELETE", one+"/lock", onIssue(unlock)),
		at("GET", one+"/reactions", onIssue(listReactions)),
		at("POST", one+"/reactions", onIssue(createReaction)),
		at("GET", repo+"/pulls", inRepo(listPulls)),
		at("POST", repo+"/pulls", inRepo(createPull)),
		at("GET", repo+"/pulls/{number}", onIssue(getPull)),
		at("GET", repo+"/pulls/{number}/files", onIssue(listFiles)),
		at("GET", repo+"/pulls/{number}/commits", onIssue(listCommits)),
		at("GET", repo+"/pulls/{number}/reviews", onIssue(listReviews)),
		at("POST", repo+"/pulls/{number}/requested_reviewers", onIssue(requestReviewers)),
		at("GET", repo+"/actions/caches", inRepo(listCaches)),
		at("GET", one+"/events", onIssue(listEvents)),
		at("GET", one+"/timeline", onIssue(listTimeline)),
	}
}

func at(method, pattern string, h handler) route {
	return route{method: method, parts: strings.Split(pattern[1:], "/"), handle: h}
}

// find returns the handler of a call, and the parameters in its path, unescaped. The handler is nil
// when there is no route.
func find(routes []route, r *http.Request) (handler, map[string]string) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	for _, route := range routes {
		if route.method != r.Method {
			continue
		}
		if vars, ok := route.match(parts); ok {
			return route.handle, vars
		}
	}
	return nil, nil
}

func (t route) match(parts []string) (map[string]string, bool) {
	vars := map[string]string{}
	for i, want := range t.parts {
		name, isVar := strings.CutPrefix(want, "{")
		name = strings.TrimSuffix(name, "}")
		rest, all := strings.CutSuffix(name, "...")
		switch {
		case i >= len(parts):
			return nil, false
		case all:
			v, err := url.PathUnescape(strings.Join(parts[i:], "/"))
			vars[rest] = v
			return vars, err == nil
		case isVar:
			v, err := url.PathUnescape(parts[i])
			if err != nil || v == "" {
				return nil, false
			}
			vars[name] = v
		case want != parts[i]:
			return nil, false
		}
	}
	return vars, len(parts) == len(t.parts)
}

// inRepo looks up the repository of a call; it answers 404 when there is none.
func inRepo(h handler) handler {
	return func(in *input) answer {
		in.repo = in.repos[strings.ToLower(in.vars["owner"]+"/"+in.vars["repo"])]
		if in.repo == nil {
			return notFound()
		}
		if a, refused := refusal(in); refused {
			return a
		}
		return h(in)
	}
}

// refusal refuses writes to an archived repository, and writes of a blocked account. GitHub's
// description of most calls does not contain these answers.
func refusal(in *input) (answer, bool) {
	a, refused := answer{}, true
	switch {
	case in.r.Method == http.MethodGet:
		return a, false
	case in.repo.About.Archived:
		a = failure(http.StatusForbidden, "Repository was archived so is read-only.")
	case slices.ContainsFunc(in.repo.About.Blocked, state.Same(in.actor)):
		a = failure(http.StatusForbidden, "User is blocked")
	default:
		refused = false
	}
	a.foreign = true
	return a, refused
}

// onIssue looks up the issue of a call. It answers 404 when there is none, 410 when it was deleted,
// and 301 when it was transferred.
func onIssue(h handler) handler {
	return inRepo(func(in *input) answer {
		n, err := strconv.Atoi(in.vars["number"])
		if err != nil {
			return notFound()
		}
		in.issue = in.repo.Issues[n]
		switch {
		case in.issue == nil:
			return notFound()
		case in.issue.Deleted:
			return failure(http.StatusGone, "This issue was deleted")
		case in.issue.Transferred != "":
			return moved(in)
		case in.repo.About.NoIssues && !in.issue.PullRequest:
			a := failure(http.StatusGone, "Issues are disabled for this repo")
			a.foreign = true
			return a
		}
		return h(in)
	})
}

func moved(in *input) answer {
	// The new location keeps the part of the path after the issue.
	parts := strings.SplitN(in.r.URL.EscapedPath(), "/", 7)
	to := "http://" + in.r.Host + in.issue.Transferred
	if len(parts) == 7 {
		to += "/" + parts[6]
	}
	a := reply(http.StatusMovedPermanently, object{
		"message": "Moved Permanently", "url": to, "documentation_url": docsURL,
	})
	a.header.Set("Location", to)
	return a
}
