package results

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// jobIDs are the ids of a run and its job at the results service.
type jobIDs struct {
	run, job string
}

// fields returns the fields of every request about an artifact of the job, with one more.
func (j jobIDs) fields(key, value string) map[string]any {
	return map[string]any{"workflow_run_backend_id": j.run, "workflow_job_run_backend_id": j.job, key: value}
}

var errClaims = errors.New("the runtime token does not name its run and job (scope Actions.Results)")

// claims reads the ids from the claim "scp" of the runtime token. "scp" is a list of words, one of
// which is "Actions.Results:<run>:<job>". claims does not verify the signature, because the service
// does. The error contains nothing of the token.
func claims(token string) (jobIDs, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > 64<<10 {
		return jobIDs{}, errClaims
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return jobIDs{}, errClaims
	}
	var body struct {
		Scp string `json:"scp"`
	}
	if err := json.Unmarshal(payload, &body); err != nil {
		return jobIDs{}, errClaims
	}
	for scope := range strings.FieldsSeq(body.Scp) {
		ids, ok := strings.CutPrefix(scope, "Actions.Results:")
		if !ok {
			continue
		}
		run, job, _ := strings.Cut(ids, ":")
		if !plainID(run) || !plainID(job) {
			return jobIDs{}, errClaims
		}
		return jobIDs{run, job}, nil
	}
	return jobIDs{}, errClaims
}

func plainID(s string) bool {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, odd)
}
