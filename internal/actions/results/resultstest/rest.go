package resultstest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// rest serves the documented API of artifacts.
func (r *request) rest() answer {
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/"+r.s.config.Repo+"/actions/artifacts")
	switch {
	case !ok:
		return r.problem("there is no such route")
	case r.Method != http.MethodGet:
		return r.problem("want GET")
	case r.Header.Get("Accept") != "application/vnd.github+json", r.Header.Get("X-Github-Api-Version") == "", r.Header.Get("User-Agent") == "":
		return r.problem("a header is missing")
	case r.Header.Get("Authorization") != "Bearer "+r.s.RESTToken():
		return refusal(http.StatusUnauthorized, "Bad credentials")
	case r.s.denied[ActionsRead]:
		return refusal(http.StatusForbidden, "Resource not accessible by integration")
	case path == "":
		return r.list()
	}
	text, ok := strings.CutSuffix(path, "/zip")
	id, err := strconv.ParseInt(strings.TrimPrefix(text, "/"), 10, 64)
	if !ok || err != nil {
		return r.problem("there is no such route")
	}
	return r.locate(id)
}

// list answers newest first.
func (r *request) list() answer {
	q := r.URL.Query()
	size, err1 := strconv.Atoi(q.Get("per_page"))
	page, err2 := strconv.Atoi(q.Get("page"))
	if err1 != nil || err2 != nil || size < 1 || size > 100 || page < 1 || q.Has("name") && q.Get("name") == "" {
		return r.problem("per_page %q, page %q, name %q", q.Get("per_page"), q.Get("page"), q.Get("name"))
	}
	all := []any{}
	for _, a := range slices.Backward(r.s.artifacts) {
		if a.finished && (!q.Has("name") || a.Name == q.Get("name")) {
			all = append(all, a.json(r.s.URL))
		}
	}
	total := len(all)
	all = all[min((page-1)*size, total):min(page*size, total)]
	return reply(http.StatusOK, map[string]any{"total_count": total, "artifacts": all})
}

func (a *artifact) json(root string) map[string]any {
	var sum any = a.Digest
	if a.Digest == "none" {
		sum = nil
	}
	return map[string]any{
		"id": a.ID, "node_id": "MDg6QXJ0aWZhY3Q" + strconv.FormatInt(a.ID, 10), "name": a.Name, "size_in_bytes": len(a.Zip),
		"url": root, "archive_download_url": root, "expired": a.Expired, "digest": sum,
		"created_at": "2026-04-10T08:30:00Z", "expires_at": "2026-07-09T08:30:00Z", "updated_at": "2026-04-10T08:30:00Z",
		"workflow_run": map[string]any{
			"id": a.Run, "repository_id": a.RepositoryID, "head_repository_id": a.HeadRepositoryID,
			"head_branch": a.HeadBranch, "head_sha": "ecc1de9e0a8ac3ee5a5fd2c3aa3ba0c1e3d7a9a1",
		},
	}
}

// locate answers with a redirect to the storage.
func (r *request) locate(id int64) answer {
	i := slices.IndexFunc(r.s.artifacts, func(a *artifact) bool { return a.finished && a.ID == id })
	switch {
	case i < 0:
		return refusal(http.StatusNotFound, "Not Found")
	case r.s.artifacts[i].Expired:
		return refusal(http.StatusGone, "Artifact has expired")
	}
	return answer{status: http.StatusFound, header: map[string]string{"Location": r.s.address(r.s.artifacts[i].blob, "r")}}
}
