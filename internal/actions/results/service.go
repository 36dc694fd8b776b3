package results

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
)

// artifactService is the artifact service of GitHub: it creates and deletes the
// artifacts of one run of a workflow.
type artifactService struct{ c *rpc.Client }

// create begins an artifact of a job, and returns the address for its upload.
func (s artifactService) create(ctx context.Context, job jobIDs, name string) (rpc.SignedURL, error) {
	in := job.fields("name", name)
	in["version"] = 4
	got, err := s.call(ctx, "create the artifact", "CreateArtifact", in)
	if err != nil {
		return rpc.SignedURL{}, err
	}
	return s.c.SignedField(got, "signed_upload_url")
}

// upload sends a zip as GitHub's own client does: first the data as a block, then the block list.
func (s artifactService) upload(ctx context.Context, to rpc.SignedURL, zip []byte) error {
	const what = "upload the artifact"
	id := base64.StdEncoding.EncodeToString([]byte("foreman-000000"))
	_, err := s.c.Do(ctx, rpc.Request{
		What: what, Method: http.MethodPut, To: to.WithQuery("comp=block&blockid=" + url.QueryEscape(id)),
		Header: map[string]string{"Content-Type": "application/octet-stream"}, Body: zip,
	})
	if err != nil {
		return err
	}
	list := `<?xml version="1.0" encoding="utf-8"?><BlockList><Latest>` + id + `</Latest></BlockList>`
	_, err = s.c.Do(ctx, rpc.Request{
		What: what, Method: http.MethodPut, To: to.WithQuery("comp=blocklist"),
		Header: map[string]string{"Content-Type": "application/xml", "X-Ms-Blob-Content-Type": "application/zip"}, Body: []byte(list),
	})
	return err
}

// finalize makes an artifact visible; the answer contains its id.
func (s artifactService) finalize(ctx context.Context, job jobIDs, name string, zip []byte) (rpc.Fields, error) {
	in := job.fields("name", name)
	in["size"] = strconv.Itoa(len(zip))
	in["hash"] = digest(zip)
	return s.call(ctx, "finish the artifact", "FinalizeArtifact", in)
}

// removing names the operation in the errors of find and remove.
const removing = "remove the artifact"

// find returns the id of the artifact with a name in the job's run, 0 if there is none, and the job
// that made it. The service deletes an artifact only if the request contains the ids of that job.
func (s artifactService) find(ctx context.Context, job jobIDs, name string) (id int64, maker jobIDs, err error) {
	got, err := s.c.Twirp(ctx, removing, "ArtifactService/ListArtifacts", job.fields("name_filter", name))
	if err != nil {
		return 0, jobIDs{}, err
	}
	list, err := got.List("artifacts")
	if err != nil {
		return 0, jobIDs{}, err
	}
	for _, item := range list {
		n, err := item.Number("database_id")
		run, err1 := item.Text("workflow_run_backend_id")
		job, err2 := item.Text("workflow_job_run_backend_id")
		if err := errors.Join(err, err1, err2); err != nil {
			return 0, jobIDs{}, err
		}
		// Each attempt of a run may have one; the newest is the record.
		if n > id {
			id, maker = n, jobIDs{run, job}
		}
	}
	return id, maker, nil
}

// remove deletes the artifact with a name that a job made. It returns the id of the deleted
// artifact, 0 if that is unknown. If there is no such artifact, it returns no error.
func (s artifactService) remove(ctx context.Context, maker jobIDs, name string) (int64, error) {
	got, err := s.call(ctx, removing, "DeleteArtifact", maker.fields("name", name))
	switch {
	case rpc.IsNotFound(err):
		return 0, nil
	case err != nil:
		return 0, err
	}
	id, _ := got.Number("artifact_id") // 0 if the response has no id
	return id, nil
}

// call calls a method whose response has the field "ok".
func (s artifactService) call(ctx context.Context, what, method string, in map[string]any) (rpc.Fields, error) {
	got, err := s.c.Twirp(ctx, what, "ArtifactService/"+method, in)
	if err != nil {
		return rpc.Fields{}, denied(err)
	}
	ok, message, err := got.OK()
	if err == nil && !ok {
		err = refusal(what, message)
	}
	return got, err
}
