package resultstest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// A Job is a job of a run. What is zero is filled in: a run of its own, on the
// default branch of the repository.
type Job struct {
	Run              int64
	HeadRepositoryID int64
	HeadBranch       string

	run, job string // the backend's ids
}

// RuntimeToken starts a job and returns its runtime token.
func (s *Server) RuntimeToken(j Job) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.id()
	if j.Run == 0 {
		j.Run = id
	}
	if j.HeadRepositoryID == 0 {
		j.HeadRepositoryID = s.config.RepositoryID
	}
	if j.HeadBranch == "" {
		j.HeadBranch = s.config.Branch
	}
	j.run = fmt.Sprintf("%08x-61c7-4aae-887f-30da475f5f1a", j.Run)
	j.job = fmt.Sprintf("%08x-040a-526b-2ce8-bdc85f692774", id)
	payload, err := json.Marshal(map[string]any{
		"scp": "Actions.GenericRead:0 Actions.Results:" + j.run + ":" + j.job,
		"ac":  `[{"Scope":"refs/heads/` + j.HeadBranch + `","Permission":3}]`,
		"nbf": 1, "exp": 1 << 40,
	})
	if err != nil {
		panic(err) // of numbers and texts
	}
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(payload) + "." + encode([]byte("the signature of a test"))
	s.jobs[token] = j
	return token
}

// RESTToken returns the token of the REST API.
func (*Server) RESTToken() string { return "ghs_the_token_of_the_rest_api" }

// A Denial is a right that jobs do not have.
type Denial string

// The rights that [Server.Deny] takes away.
const (
	CacheRead      Denial = "cache read"
	CacheWrite     Denial = "cache write"
	ArtifactWrite  Denial = "artifact write"
	ArtifactDelete Denial = "artifact delete"
	ActionsRead    Denial = "actions: read" // of the REST token
)

// Deny takes a right away from all jobs, or gives it back.
func (s *Server) Deny(d Denial, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[d] = on
}
