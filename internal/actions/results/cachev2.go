package results

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
)

// A finished upload may not be visible to the service yet. So commit is tried commitTries times,
// with commitWait between the tries.
const (
	commitTries = 6
	commitWait  = 2 * time.Second
)

// cacheV2 is the cache service of github.com and ghe.com.
type cacheV2 struct {
	c       *rpc.Client
	version string
	sleep   func(context.Context, time.Duration) error
}

// find implements cacheService. It sends the prefix in both fields, because the service is known to
// look only at the restore keys.
func (s *cacheV2) find(ctx context.Context, prefix string) (string, rpc.SignedURL, error) {
	got, err := s.call(ctx, "look up the cache entry", "GetCacheEntryDownloadURL", struct {
		Key         string   `json:"key"`
		RestoreKeys []string `json:"restore_keys"`
		Version     string   `json:"version"`
	}{prefix, []string{prefix}, s.version})
	if err != nil || !got.ok {
		return "", rpc.SignedURL{}, err
	}
	return foundEntry(s.c, got.Fields, "matched_key", "signed_download_url")
}

// reserve implements cacheService.
func (s *cacheV2) reserve(ctx context.Context, key string, _ int) (reservation, error) {
	const what = "reserve the cache entry"
	got, err := s.call(ctx, what, "CreateCacheEntry", struct {
		Key     string `json:"key"`
		Version string `json:"version"`
	}{key, s.version})
	switch {
	case rpc.IsTaken(err):
		return reservation{}, fmt.Errorf("%w: %w", errKeyTaken, err)
	case err != nil:
		return reservation{}, err
	case !got.ok && got.exists():
		return reservation{}, fmt.Errorf("%w: %w", errKeyTaken, got.refused(what))
	case !got.ok:
		return reservation{}, got.refused(what)
	}
	to, err := s.c.SignedField(got.Fields, "signed_upload_url")
	return reservation{key: key, to: to}, err
}

// upload implements cacheService.
func (s *cacheV2) upload(ctx context.Context, r reservation, data []byte) error {
	_, err := s.c.Do(ctx, rpc.Request{
		What: "upload the cache entry", Method: http.MethodPut, To: r.to, Body: data,
		Header: map[string]string{"Content-Type": "application/octet-stream", "X-Ms-Blob-Type": "BlockBlob"},
	})
	if err != nil {
		return err
	}
	return s.commit(ctx, r.key, len(data))
}

// commit finishes an upload. It tries again while the service does not see the upload.
func (s *cacheV2) commit(ctx context.Context, key string, size int) error {
	const what = "finish the cache entry"
	for try := 1; ; try++ {
		got, err := s.call(ctx, what, "FinalizeCacheEntryUpload", struct {
			Key     string `json:"key"`
			Version string `json:"version"`
			Size    string `json:"size_bytes"`
		}{key, s.version, strconv.Itoa(size)})
		switch {
		case err == nil && got.ok:
			return nil
		case err == nil:
			return got.refused(what)
		case !rpc.IsNotFound(err) || try == commitTries:
			return err
		}
		if err := s.sleep(ctx, commitWait); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// An outcome is an answer with the field "ok".
type outcome struct {
	rpc.Fields
	ok      bool
	message string // why it was refused
}

// exists reports whether the service refused because the name is in use. GitHub uses a status for
// that; other services may only have the message.
func (o outcome) exists() bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(o.message), "_", " "), "already exists")
}

// refused returns an error for a refusal. The service also refuses a write without permission in
// this way, with status 200.
func (o outcome) refused(what string) error {
	if strings.Contains(strings.ToLower(o.message), "denied") {
		return fmt.Errorf("%s: %w: %s", what, ErrDenied, o.message)
	}
	return refusal(what, o.message)
}

func (s *cacheV2) call(ctx context.Context, what, method string, in any) (outcome, error) {
	got, err := s.c.Twirp(ctx, what, "CacheService/"+method, in)
	if err != nil {
		return outcome{}, err
	}
	ok, message, err := got.OK()
	return outcome{got, ok, message}, err
}
