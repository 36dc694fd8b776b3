package results

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/org/foreman-action/memory"
)

// An upload is one artifact on its way: a record, or what announces a closing.
type upload struct {
	a      *Artifact
	ids    backend
	name   string
	zip    []byte
	seen   []Info // what there was, believed or not
	before []Info // what of it may be the record, newest first
	anew   bool   // an artifact of seen was removed for this one
}

// run makes the artifact, makes sure that it counts, and returns its id.
func (u *upload) run(ctx context.Context) (int64, error) {
	to, err := u.create(ctx)
	if taken(err) {
		to, err = u.replace(ctx)
	}
	if err != nil {
		return 0, err
	}
	if err := u.put(ctx, to); err != nil {
		return 0, err
	}
	id, err := u.finalize(ctx)
	if err != nil {
		return 0, err
	}
	return id, u.confirm(ctx, id)
}

// refs returns the fields that every request about the artifact has.
func (u *upload) refs(ids backend) map[string]any {
	return map[string]any{"workflow_run_backend_id": ids.run, "workflow_job_run_backend_id": ids.job, "name": u.name}
}

func (u *upload) create(ctx context.Context) (signed, error) {
	const what = "create the artifact"
	in := u.refs(u.ids)
	in["version"] = 4
	got, err := u.call(ctx, what, "CreateArtifact", in)
	if err != nil {
		return signed{}, err
	}
	return u.a.c.address(what, got, "signed_upload_url")
}

// replace makes room for the artifact where this run has one of the name already:
// the record that it was made from, or what a killed attempt left.
func (u *upload) replace(ctx context.Context) (signed, error) {
	now, err := u.a.list(ctx, u.name)
	if err != nil {
		return signed{}, err
	}
	if !slices.EqualFunc(now, u.before, sameID) {
		return signed{}, fmt.Errorf("%w: an artifact of the name was made", memory.ErrConflict)
	}
	u.anew = true
	switch err := u.remove(ctx, u.known); {
	case errors.Is(err, memory.ErrConflict):
		return signed{}, err
	case err != nil:
		u.a.c.log.Warn("the artifact of an earlier attempt stays", "name", u.name, "error", err.Error())
	}
	to, err := u.create(ctx)
	if taken(err) {
		return signed{}, u.lost(ctx, err)
	}
	return to, err
}

// lost says why the name is taken after all: another job of this run was faster, or
// the service does not let us have it.
func (u *upload) lost(ctx context.Context, reason error) error {
	now, err := u.a.list(ctx, u.name)
	if err == nil && slices.ContainsFunc(now, func(info Info) bool { return !u.known(info.ID) }) {
		return fmt.Errorf("%w: %w", memory.ErrConflict, reason)
	}
	return fmt.Errorf("%w: %w", ErrTaken, reason)
}

func sameID(x, y Info) bool { return x.ID == y.ID }

// put uploads the zip as GitHub's own client does: blocks, then the list of them.
func (u *upload) put(ctx context.Context, to signed) error {
	const what = "upload the artifact"
	id := base64.StdEncoding.EncodeToString([]byte("foreman-000000"))
	blob := u.a.c.blob(what, to, "comp=block&blockid="+url.QueryEscape(id), u.zip)
	if _, err := u.a.c.do(ctx, blob); err != nil {
		return err
	}
	list := `<?xml version="1.0" encoding="utf-8"?><BlockList><Latest>` + id + `</Latest></BlockList>`
	blob = u.a.c.blob(what, to, "comp=blocklist", []byte(list))
	blob.header["Content-Type"] = "application/xml"
	blob.header["X-Ms-Blob-Content-Type"] = "application/zip"
	_, err := u.a.c.do(ctx, blob)
	return err
}

// blob returns a request to a signed address; the token is not for it.
func (c *client) blob(what string, to signed, query string, body []byte) call {
	r := call{what: what, method: http.MethodPut, url: to.url, body: body, secrets: to.secrets}
	if query != "" {
		r.url = to.with(query)
	}
	r.header = map[string]string{"Content-Type": "application/octet-stream"}
	return r
}

// finalize makes the artifact visible, and returns its id.
func (u *upload) finalize(ctx context.Context) (int64, error) {
	const what = "finish the artifact"
	in := u.refs(u.ids)
	in["size"] = strconv.Itoa(len(u.zip))
	in["hash"] = digest(u.zip)
	got, err := u.call(ctx, what, "FinalizeArtifact", in)
	switch {
	case absent(err):
		// Another job of this run has replaced it meanwhile.
		return 0, fmt.Errorf("%w: %w", memory.ErrConflict, err)
	case err != nil && !certain(err):
		return u.find(ctx, err)
	case err != nil:
		return 0, err
	}
	id, err := got.number("artifact_id")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return id, nil
}

// find looks for the artifact after an outcome that is not known, and returns the
// reason for that if it is not there.
func (u *upload) find(ctx context.Context, reason error) (int64, error) {
	now, err := u.a.list(ctx, u.name)
	if err != nil {
		return 0, reason
	}
	i := slices.IndexFunc(now, func(info Info) bool { return info.Digest == digest(u.zip) && !u.known(info.ID) })
	if i < 0 {
		return 0, reason
	}
	return now[i].ID, nil
}

// known reports whether an artifact was there before.
func (u *upload) known(id int64) bool {
	return slices.ContainsFunc(u.seen, func(info Info) bool { return info.ID == id })
}

// confirm looks whether somebody else's artifact came in between, the one that ours
// was made from was taken back, or ours was replaced, and takes ours back if so.
func (u *upload) confirm(ctx context.Context, id int64) error {
	all, err := u.a.reader.List(ctx, u.name)
	if err == nil && !slices.ContainsFunc(all, func(info Info) bool { return info.ID == id }) {
		// A list may be behind what was finished just now: once it gets the time to follow.
		if err = u.a.c.sleep(ctx, firstWait); err == nil {
			all, err = u.a.reader.List(ctx, u.name)
		}
	}
	if err != nil {
		u.a.c.log.Warn("whether somebody else saved meanwhile is not known", "name", u.name, "error", err.Error())
		return nil
	}
	own, rival, base := false, false, u.anew || len(u.before) == 0
	for _, info := range all {
		reason := u.a.distrust(info, u.name)
		switch {
		case info.ID == id && reason != "":
			return fmt.Errorf("it is stored, and will not be believed: %s", reason)
		case info.ID == id:
			own = true
		case reason == "" && !u.known(info.ID):
			rival = true
		}
		base = base || info.ID == u.before[0].ID
	}
	if own && base && !rival {
		return nil
	}
	err = u.remove(ctx, func(x int64) bool { return x == id })
	if err != nil && !errors.Is(err, memory.ErrConflict) {
		u.a.c.log.Warn("an artifact that lost the race stays", "name", u.name, "id", id, "error", err.Error())
	}
	return fmt.Errorf("%w: an artifact of the name was made or taken back", memory.ErrConflict)
}

// remove deletes the artifact of the name that this run has, if it is one that may
// go; if it is another the error is memory.ErrConflict. Nothing to delete is none.
func (u *upload) remove(ctx context.Context, may func(id int64) bool) error {
	const what = "remove the artifact"
	id, maker, err := u.held(ctx, what)
	switch {
	case err != nil || id == 0:
		return err
	case !may(id):
		return fmt.Errorf("%w: the run has another artifact of the name", memory.ErrConflict)
	}
	got, err := u.call(ctx, what, "DeleteArtifact", u.refs(maker))
	if absent(err) {
		return nil
	}
	if gone, lost := got.number("artifact_id"); err == nil && lost == nil && gone != id {
		u.a.c.log.Warn("an artifact that was made in this moment was removed", "name", u.name, "id", gone)
	}
	return err
}

// held returns the id of the artifact of the name that this run has, 0 meaning none,
// and the ids of the job that made it, without which the service deletes nothing.
func (u *upload) held(ctx context.Context, what string) (int64, backend, error) {
	in := u.refs(u.ids)
	delete(in, "name")
	in["name_filter"] = u.name
	got, err := u.a.c.twirp(ctx, what, "ArtifactService/ListArtifacts", in)
	if err != nil {
		return 0, backend{}, err
	}
	var list []json.RawMessage
	if err := got.read("artifacts", &list); err != nil {
		return 0, backend{}, fmt.Errorf("%s: %w", what, err)
	}
	var id int64
	var maker backend
	for _, raw := range list {
		a, err := parseAnswer(raw)
		if err != nil {
			return 0, backend{}, fmt.Errorf("%s: %w", what, err)
		}
		n, err := a.number("database_id")
		run, err1 := a.text("workflow_run_backend_id")
		job, err2 := a.text("workflow_job_run_backend_id")
		if err = errors.Join(err, err1, err2); err != nil {
			return 0, backend{}, fmt.Errorf("%s: %w", what, err)
		}
		// Attempts of a run may have one each; the newest is the one that counts.
		if n > id {
			id, maker = n, backend{run, job}
		}
	}
	return id, maker, nil
}

// call calls a method of the artifact service whose answer says whether it was done.
func (u *upload) call(ctx context.Context, what, method string, in map[string]any) (answer, error) {
	got, err := u.a.c.twirp(ctx, what, "ArtifactService/"+method, in)
	if forbidden(err) {
		return answer{}, fmt.Errorf("%w: %w", ErrDenied, err)
	}
	if err != nil {
		return answer{}, err
	}
	ok, message, err := got.ok()
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("%s: %w", what, err)
	case !ok && message != "":
		return answer{}, fmt.Errorf("%s: the service refused: %s", what, line(message, []string{u.a.c.token}))
	case !ok:
		return answer{}, fmt.Errorf("%s: %w", what, errRefused)
	}
	return got, nil
}

var errRefused = errors.New("the service refused")
