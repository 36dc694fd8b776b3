package results

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An upload that the service does not know of yet is finished commitTries times, with
// commitWait between.
const (
	commitTries = 6
	commitWait  = 2 * time.Second
)

// cacheV2 is the cache service of github.com and ghe.com.
type cacheV2 struct {
	c       *client
	version string
}

// find implements cacheWire. The prefix stands in both fields: the service is known
// to look only at the restore keys.
func (w *cacheV2) find(ctx context.Context, prefix string) (string, signed, error) {
	const what = "look up the cache entry"
	got, err := w.call(ctx, what, "GetCacheEntryDownloadURL", struct {
		Key         string   `json:"key"`
		RestoreKeys []string `json:"restore_keys"`
		Version     string   `json:"version"`
	}{prefix, []string{prefix}, w.version})
	if err != nil || !got.done {
		return "", signed{}, err
	}
	key, err := got.text("matched_key")
	if err != nil {
		return "", signed{}, fmt.Errorf("%s: %w", what, err)
	}
	from, err := w.c.address(what, got.answer, "signed_download_url")
	if err != nil {
		return "", signed{}, err
	}
	return key, from, nil
}

// reserve implements cacheWire.
func (w *cacheV2) reserve(ctx context.Context, key string, _ int) (fill, error) {
	const what = "reserve the cache entry"
	got, err := w.call(ctx, what, "CreateCacheEntry", struct {
		Key     string `json:"key"`
		Version string `json:"version"`
	}{key, w.version})
	switch {
	case taken(err):
		return nil, fmt.Errorf("%w: %w", errKeyTaken, err)
	case err != nil:
		return nil, err
	case !got.done && got.exists():
		return nil, fmt.Errorf("%w: %w", errKeyTaken, got.refused(what))
	case !got.done:
		return nil, got.refused(what)
	}
	to, err := w.c.address(what, got.answer, "signed_upload_url")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, data []byte) error {
		blob := w.c.blob("upload the cache entry", to, "", data)
		blob.header["X-Ms-Blob-Type"] = "BlockBlob"
		if _, err := w.c.do(ctx, blob); err != nil {
			return err
		}
		return w.commit(ctx, key, len(data))
	}, nil
}

// commit finishes an upload. The service may not know yet that the blob is there.
func (w *cacheV2) commit(ctx context.Context, key string, size int) error {
	const what = "finish the cache entry"
	for try := 1; ; try++ {
		got, err := w.call(ctx, what, "FinalizeCacheEntryUpload", struct {
			Key     string `json:"key"`
			Version string `json:"version"`
			Size    string `json:"size_bytes"`
		}{key, w.version, strconv.Itoa(size)})
		switch {
		case err == nil && got.done:
			return nil
		case err == nil:
			return got.refused(what)
		case !absent(err) || try == commitTries:
			return err
		}
		if err := w.c.sleep(ctx, commitWait); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// An outcome is an answer with the field "ok".
type outcome struct {
	answer
	done    bool
	message string // why it was not done
}

// exists reports whether an answer says no because the name is in use: a status of
// its own is the rule, and words are all that other services may have.
func (o outcome) exists() bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(o.message), "_", " "), "already exists")
}

// refused makes an error of an answer that says no. A write that the job has no
// right to is answered so, with status 200.
func (o outcome) refused(what string) error {
	switch {
	case strings.Contains(strings.ToLower(o.message), "denied"):
		return fmt.Errorf("%s: %w: %s", what, ErrDenied, o.message)
	case o.message != "":
		return fmt.Errorf("%s: %w: %s", what, errRefused, o.message)
	}
	return fmt.Errorf("%s: %w", what, errRefused)
}

func (w *cacheV2) call(ctx context.Context, what, method string, in any) (outcome, error) {
	got, err := w.c.twirp(ctx, what, "CacheService/"+method, in)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{answer: got}
	if o.done, o.message, err = got.ok(); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", what, err)
	}
	o.message = line(o.message, []string{w.c.token})
	return o, nil
}
