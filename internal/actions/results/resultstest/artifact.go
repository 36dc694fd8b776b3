package resultstest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Artifact is a finished artifact. [Server.Add] replaces zero fields by defaults: the artifact
// then looks as if a job of this repository had made it on the default branch.
type Artifact struct {
	ID               int64
	Name             string
	Zip              []byte
	Digest           string // "none": the REST API returns null
	Expired          bool
	Run              int64
	RepositoryID     int64
	HeadRepositoryID int64
	HeadBranch       string
	CreatedAt        time.Time // zero: when it is added
}

// artifacts is the artifact service.
type artifacts struct {
	config  Config
	ids     *ids
	storage *storage
	denied  map[Denial]bool
	list    []*artifact
}

type artifact struct {
	Artifact
	maker    Job
	blob     *blob
	finished bool
}

func (s *artifacts) add(a Artifact) int64 {
	if a.ID == 0 {
		a.ID = s.ids.next()
	}
	if a.Run == 0 {
		a.Run = s.ids.next()
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt = s.config.Now().UTC().Truncate(time.Second)
	}
	a.RepositoryID = cmp.Or(a.RepositoryID, s.config.RepositoryID)
	a.HeadRepositoryID = cmp.Or(a.HeadRepositoryID, s.config.RepositoryID)
	a.HeadBranch = cmp.Or(a.HeadBranch, s.config.Branch)
	a.Digest = cmp.Or(a.Digest, digest(a.Zip))
	b := s.storage.place()
	b.data, b.written = a.Zip, true
	s.list = append(s.list, &artifact{Artifact: a, blob: b, finished: true})
	return a.ID
}

// finished returns the finished artifacts, oldest first.
func (s *artifacts) finished() []Artifact {
	var out []Artifact
	for _, a := range s.list {
		if a.finished {
			a.Zip = slices.Clone(a.blob.data)
			out = append(out, a.Artifact)
		}
	}
	return out
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// find returns the artifact with a name in a run.
func (s *artifacts) find(run int64, name string) *artifact {
	i := slices.IndexFunc(s.list, func(a *artifact) bool { return a.Run == run && a.Name == name })
	if i < 0 {
		return nil
	}
	return s.list[i]
}

func (s *artifacts) drop(a *artifact) {
	s.list = slices.DeleteFunc(s.list, func(x *artifact) bool { return x == a })
}

// A runRef begins the body of every call of the artifact service.
type runRef struct {
	Run string `json:"workflow_run_backend_id"`
	Job string `json:"workflow_job_run_backend_id"`
}

// of reports whether a call is about the run of the job that makes the call.
func (f runRef) of(j Job) bool { return f.Run == j.run && f.Job != "" }

func foreign() answer { return problem("the ids differ from those of the token") }

type artifactRef struct {
	runRef
	Name string `json:"name"`
}

func (s *artifacts) methods() map[string]method {
	return map[string]method{
		"ArtifactService/CreateArtifact":   decoded(s.create),
		"ArtifactService/FinalizeArtifact": decoded(s.finalize),
		"ArtifactService/ListArtifacts":    decoded(s.ofRun),
		"ArtifactService/DeleteArtifact":   decoded(s.delete),
	}
}

func (s *artifacts) create(r request, in struct {
	artifactRef
	Version int `json:"version"`
}) answer {
	old := s.find(r.job.Run, in.Name)
	switch {
	case !in.of(r.job):
		return foreign()
	case in.Name == "" || strings.ContainsAny(in.Name, "\":<>|*?\r\n\\/"), in.Version != 4, in.Job != r.job.job:
		return problem("name %q, version %d, job %s", in.Name, in.Version, in.Job)
	case s.denied[ArtifactWrite]:
		return failure(http.StatusForbidden, "permission_denied", "artifacts may not be written")
	case old != nil && (old.finished || !s.config.Lenient):
		return failure(http.StatusConflict, "already_exists", "an artifact with this name already exists on the workflow run")
	case old != nil:
		s.drop(old)
	}
	made := &artifact{Artifact: Artifact{
		ID: s.ids.next(), Name: in.Name, Run: r.job.Run, RepositoryID: s.config.RepositoryID,
		HeadRepositoryID: r.job.HeadRepositoryID, HeadBranch: r.job.HeadBranch, CreatedAt: s.config.Now().UTC().Truncate(time.Second),
	}, maker: r.job, blob: s.storage.place()}
	s.list = append(s.list, made)
	return answer{fields: object{"ok": true, "signed_upload_url": s.storage.address(made.blob, "w")}}
}

func (s *artifacts) finalize(r request, in struct {
	artifactRef
	Size number `json:"size"`
	Hash string `json:"hash"`
}) answer {
	made := s.find(r.job.Run, in.Name)
	switch {
	case !in.of(r.job):
		return foreign()
	case made == nil || made.maker.job != in.Job:
		return failure(http.StatusNotFound, "not_found", "artifact not found")
	case !made.blob.written || int64(in.Size) != int64(len(made.blob.data)) || in.Hash != digest(made.blob.data):
		return problem("size %d and hash %s are not those of the blob", in.Size, in.Hash)
	}
	// The id is assigned when the artifact is finished, so the artifact that finished last has the
	// highest id.
	made.ID, made.finished, made.Digest = s.ids.next(), true, in.Hash
	s.drop(made)
	s.list = append(s.list, made)
	return answer{fields: object{"ok": true, "artifact_id": made.ID}}
}

func (s *artifacts) ofRun(r request, in struct {
	runRef
	Filter string `json:"name_filter"`
}) answer {
	if !in.of(r.job) {
		return foreign()
	}
	list := []any{}
	if a := s.find(r.job.Run, in.Filter); a != nil && a.finished {
		list = append(list, object{
			"workflow_run_backend_id": a.maker.run, "workflow_job_run_backend_id": a.maker.job, "database_id": a.ID, "name": a.Name,
		})
	}
	return answer{fields: object{"artifacts": list}}
}

func (s *artifacts) delete(r request, in artifactRef) answer {
	old := s.find(r.job.Run, in.Name)
	switch {
	case !in.of(r.job):
		return foreign()
	case s.denied[ArtifactDelete]:
		return failure(http.StatusForbidden, "permission_denied", "artifacts may not be deleted")
	case old == nil || !old.finished || old.maker.job != in.Job:
		return failure(http.StatusNotFound, "not_found", "artifact not found")
	}
	s.drop(old)
	return answer{fields: object{"ok": true, "artifact_id": old.ID}}
}

func restToken() string { return "ghs_the_token_of_the_rest_api" }

// rest serves the documented REST API of artifacts; path is relative to its root.
func (s *artifacts) rest(r request, path string) answer {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		return problem("want GET or DELETE")
	case r.Header.Get("Accept") != "application/vnd.github+json", r.Header.Get("X-Github-Api-Version") == "", r.Header.Get("User-Agent") == "":
		return problem("a header is missing")
	case r.Header.Get("Authorization") != "Bearer "+restToken():
		return refusal(http.StatusUnauthorized, "Bad credentials")
	case s.denied[ActionsRead]:
		return refusal(http.StatusForbidden, "Resource not accessible by integration")
	case r.Method == http.MethodDelete:
		return s.restDelete(path)
	case path == "":
		return s.page(r)
	}
	text, ok := strings.CutSuffix(path, "/zip")
	id, err := strconv.ParseInt(strings.TrimPrefix(text, "/"), 10, 64)
	if !ok || err != nil {
		return problem("there is no such route")
	}
	i := slices.IndexFunc(s.list, func(a *artifact) bool { return a.finished && a.ID == id })
	switch {
	case i < 0:
		return refusal(http.StatusNotFound, "Not Found")
	case s.list[i].Expired:
		return refusal(http.StatusGone, "Artifact has expired")
	}
	return answer{status: http.StatusFound, header: http.Header{"Location": {s.storage.address(s.list[i].blob, "r")}}}
}

// restDelete deletes an artifact of any run.
func (s *artifacts) restDelete(path string) answer {
	id, err := strconv.ParseInt(strings.TrimPrefix(path, "/"), 10, 64)
	if err != nil {
		return problem("there is no such route")
	}
	i := slices.IndexFunc(s.list, func(a *artifact) bool { return a.finished && a.ID == id })
	switch {
	case s.denied[ActionsWrite]:
		return refusal(http.StatusForbidden, "Resource not accessible by integration")
	case i < 0:
		return refusal(http.StatusNotFound, "Not Found")
	}
	s.list = slices.Delete(s.list, i, i+1)
	return answer{status: http.StatusNoContent}
}

// page lists artifacts, newest first.
func (s *artifacts) page(r request) answer {
	q := r.URL.Query()
	size, err1 := strconv.Atoi(q.Get("per_page"))
	page, err2 := strconv.Atoi(q.Get("page"))
	if err1 != nil || err2 != nil || size < 1 || size > 100 || page < 1 || q.Has("name") && q.Get("name") == "" {
		return problem("per_page %q, page %q, name %q", q.Get("per_page"), q.Get("page"), q.Get("name"))
	}
	all := []any{}
	for _, a := range slices.Backward(s.list) {
		if a.finished && (!q.Has("name") || a.Name == q.Get("name")) {
			all = append(all, a.json(s.storage.url))
		}
	}
	total := len(all)
	all = all[min((page-1)*size, total):min(page*size, total)]
	return reply(http.StatusOK, object{"total_count": total, "artifacts": all})
}

func (a *artifact) json(root string) object {
	var sum any = a.Digest
	if a.Digest == "none" {
		sum = nil
	}
	return object{
		"id": a.ID, "node_id": "MDg6QXJ0aWZhY3Q" + strconv.FormatInt(a.ID, 10), "name": a.Name, "size_in_bytes": len(a.Zip),
		"url": root, "archive_download_url": root, "expired": a.Expired, "digest": sum,
		"created_at": a.CreatedAt, "expires_at": a.CreatedAt.AddDate(0, 0, 90), "updated_at": a.CreatedAt,
		"workflow_run": object{
			"id": a.Run, "repository_id": a.RepositoryID, "head_repository_id": a.HeadRepositoryID,
			"head_branch": a.HeadBranch, "head_sha": "ecc1de9e0a8ac3ee5a5fd2c3aa3ba0c1e3d7a9a1",
		},
	}
}
