package resultstest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// An Artifact is one that is to be there, or is. What is zero when it is added is
// filled in: as if a job of this repository had made it on the default branch.
type Artifact struct {
	ID               int64
	Name             string
	Zip              []byte
	Digest           string // "none": null
	Expired          bool
	Run              int64
	RepositoryID     int64
	HeadRepositoryID int64
	HeadBranch       string
}

type artifact struct {
	Artifact
	maker    Job
	blob     int64
	finished bool
}

// Add puts an artifact there, and returns its id.
func (s *Server) Add(a Artifact) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.ID == 0 {
		a.ID = s.id()
	}
	if a.Run == 0 {
		a.Run = s.id()
	}
	if a.RepositoryID == 0 {
		a.RepositoryID = s.config.RepositoryID
	}
	if a.HeadRepositoryID == 0 {
		a.HeadRepositoryID = s.config.RepositoryID
	}
	if a.HeadBranch == "" {
		a.HeadBranch = s.config.Branch
	}
	if a.Digest == "" {
		a.Digest = digest(a.Zip)
	}
	at := s.place()
	s.blobs[at].data, s.blobs[at].written = a.Zip, true
	s.artifacts = append(s.artifacts, &artifact{Artifact: a, blob: at, finished: true})
	return a.ID
}

// Artifacts returns the finished artifacts, oldest first.
func (s *Server) Artifacts() []Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Artifact
	for _, a := range s.artifacts {
		if a.finished {
			a.Zip = slices.Clone(s.blobs[a.blob].data)
			out = append(out, a.Artifact)
		}
	}
	return out
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ref is what every request about an artifact holds.
type ref struct {
	Run string `json:"workflow_run_backend_id"`
	Job string `json:"workflow_job_run_backend_id"`
}

// own refuses what is not of the run of the token.
func (r *request) own(f ref) (answer, bool) {
	if f.Run != r.job.run || f.Job == "" {
		return r.problem("the ids are not those of the token"), false
	}
	return answer{}, true
}

// find returns the artifact of a name in the run.
func (r *request) find(name string) *artifact {
	i := slices.IndexFunc(r.s.artifacts, func(a *artifact) bool { return a.Run == r.job.Run && a.Name == name })
	if i < 0 {
		return nil
	}
	return r.s.artifacts[i]
}

func (r *request) createArtifact() answer {
	var in struct {
		ref
		Name    string `json:"name"`
		Version int    `json:"version"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	if a, ok := r.own(in.ref); !ok {
		return a
	}
	old := r.find(in.Name)
	switch {
	case in.Name == "" || strings.ContainsAny(in.Name, "\":<>|*?\r\n\\/"), in.Version != 4, in.Job != r.job.job:
		return r.problem("name %q, version %d, job %s", in.Name, in.Version, in.Job)
	case r.s.denied[ArtifactWrite]:
		return failure(http.StatusForbidden, "permission_denied", "artifacts may not be written")
	case old != nil && (old.finished || !r.s.config.Lenient):
		return failure(http.StatusConflict, "already_exists", "an artifact with this name already exists on the workflow run")
	case old != nil:
		r.s.drop(old)
	}
	made := &artifact{Artifact: Artifact{
		ID: r.s.id(), Name: in.Name, Run: r.job.Run, RepositoryID: r.s.config.RepositoryID,
		HeadRepositoryID: r.job.HeadRepositoryID, HeadBranch: r.job.HeadBranch,
	}, maker: r.job, blob: r.s.place()}
	r.s.artifacts = append(r.s.artifacts, made)
	return r.ok(map[string]any{"ok": true, "signed_upload_url": r.s.address(made.blob, "w")})
}

func (s *Server) drop(a *artifact) {
	s.artifacts = slices.DeleteFunc(s.artifacts, func(x *artifact) bool { return x == a })
}

func (r *request) finalizeArtifact() answer {
	var in struct {
		ref
		Name string `json:"name"`
		Size number `json:"size"`
		Hash string `json:"hash"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	if a, ok := r.own(in.ref); !ok {
		return a
	}
	made := r.find(in.Name)
	if made == nil || made.maker.job != in.Job {
		return failure(http.StatusNotFound, "not_found", "artifact not found")
	}
	data := r.s.blobs[made.blob]
	if !data.written || int64(in.Size) != int64(len(data.data)) || in.Hash != digest(data.data) {
		return r.problem("size %d and hash %s are not those of the blob", in.Size, in.Hash)
	}
	// The id is that of finishing: the newest finished one has the highest.
	made.ID, made.finished, made.Digest = r.s.id(), true, in.Hash
	r.s.drop(made)
	r.s.artifacts = append(r.s.artifacts, made)
	return r.ok(map[string]any{"ok": true, "artifact_id": made.ID})
}

func (r *request) listArtifacts() answer {
	var in struct {
		ref
		Filter string `json:"name_filter"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	if a, ok := r.own(in.ref); !ok {
		return a
	}
	list := []any{}
	if a := r.find(in.Filter); a != nil && a.finished {
		list = append(list, map[string]any{
			r.s.spell("workflow_run_backend_id"): a.maker.run, r.s.spell("workflow_job_run_backend_id"): a.maker.job,
			r.s.spell("database_id"): a.ID, "name": a.Name,
		})
	}
	return r.ok(map[string]any{"artifacts": list})
}

func (r *request) deleteArtifact() answer {
	var in struct {
		ref
		Name string `json:"name"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	if a, ok := r.own(in.ref); !ok {
		return a
	}
	old := r.find(in.Name)
	switch {
	case r.s.denied[ArtifactDelete]:
		return failure(http.StatusForbidden, "permission_denied", "artifacts may not be deleted")
	case old == nil || !old.finished || old.maker.job != in.Job:
		return failure(http.StatusNotFound, "not_found", "artifact not found")
	}
	r.s.drop(old)
	return r.ok(map[string]any{"ok": true, "artifact_id": old.ID})
}
