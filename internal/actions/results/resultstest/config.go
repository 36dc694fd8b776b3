package resultstest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// Config configures a [Server]. The zero value is the repository org/repo with the
// id 1001 and the default branch main.
type Config struct {
	Addr         string // to listen on; empty: 127.0.0.1:0
	Repo         string // "owner/name"
	RepositoryID int64
	Branch       string // the default branch
	Renamed      string // its earlier name; empty: none

	// CamelCase makes the server answer with names like "signedUploadUrl" and with unquoted
	// numbers. Without it names are like "signed_upload_url", and numbers are strings.
	CamelCase bool
	// Now is the service's clock; nil: it always shows 2026-04-10, 8:30 UTC.
	Now func() time.Time
	// Lenient lets a run replace an artifact whose upload was never finished.
	Lenient bool
}

// A Job is a job of a run. Zero fields get defaults: a new run on the default branch of the
// repository.
type Job struct {
	Run              int64
	HeadRepositoryID int64
	HeadBranch       string

	run, job string // ids of the run and the job at the results service
}

// start gives a job its ids, and returns it with its runtime token.
func (j Job) start(c Config, id int64) (Job, string) {
	j.Run = cmp.Or(j.Run, id)
	j.HeadRepositoryID = cmp.Or(j.HeadRepositoryID, c.RepositoryID)
	j.HeadBranch = cmp.Or(j.HeadBranch, c.Branch)
	j.run = fmt.Sprintf("%08x-61c7-4aae-887f-30da475f5f1a", j.Run)
	j.job = fmt.Sprintf("%08x-040a-526b-2ce8-bdc85f692774", id)
	payload, err := json.Marshal(map[string]any{
		"scp": "Actions.GenericRead:0 Actions.Results:" + j.run + ":" + j.job,
		"ac":  `[{"Scope":"refs/heads/` + j.HeadBranch + `","Permission":3}]`,
		"nbf": 1, "exp": 1 << 40,
	})
	if err != nil {
		panic(err) // impossible: the value consists of numbers and texts
	}
	encode := base64.RawURLEncoding.EncodeToString
	return j, encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(payload) + "." + encode([]byte("the signature of a test"))
}

// A Denial is a permission that jobs do not have.
type Denial string

// The permissions that [Server.Deny] can revoke.
const (
	CacheRead      Denial = "cache read"
	CacheWrite     Denial = "cache write"
	ArtifactWrite  Denial = "artifact write"
	ArtifactDelete Denial = "artifact delete"
	ActionsRead    Denial = "actions: read" // permission of the token for the REST API
	ActionsWrite   Denial = "actions: write"
	ContentsRead   Denial = "contents: read" // permission of that token for branches
)
