package results

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// cacheV1 is the cache service of GitHub Enterprise Server and of others that speak
// its language.
type cacheV1 struct {
	c       *client
	version string
}

// find implements cacheWire.
func (w *cacheV1) find(ctx context.Context, prefix string) (string, signed, error) {
	const what = "look up the cache entry"
	q := url.Values{"keys": {prefix}, "version": {w.version}}
	got, err := w.c.do(ctx, w.request(what, http.MethodGet, "cache?"+q.Encode(), nil))
	if err != nil || got.status == http.StatusNoContent {
		return "", signed{}, err
	}
	a, err := parseAnswer(got.body)
	if err != nil {
		return "", signed{}, fmt.Errorf("%s: %w", what, err)
	}
	key, err := a.text("cacheKey")
	if err != nil {
		return "", signed{}, fmt.Errorf("%s: %w", what, err)
	}
	from, err := w.c.address(what, a, "archiveLocation")
	if err != nil {
		return "", signed{}, err
	}
	return key, from, nil
}

// reserve implements cacheWire.
func (w *cacheV1) reserve(ctx context.Context, key string, size int) (fill, error) {
	const what = "reserve the cache entry"
	got, err := w.send(ctx, what, "caches", struct {
		Key     string `json:"key"`
		Version string `json:"version"`
		Size    int    `json:"cacheSize"`
	}{key, w.version, size})
	switch {
	case taken(err):
		return nil, fmt.Errorf("%w: %w", errKeyTaken, err)
	case err != nil:
		return nil, err
	}
	a, err := parseAnswer(got.body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	id, err := a.number("cacheId")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	path := "caches/" + strconv.FormatInt(id, 10)
	return func(ctx context.Context, data []byte) error { return w.fill(ctx, path, data) }, nil
}

func (w *cacheV1) fill(ctx context.Context, path string, data []byte) error {
	chunk := w.request("upload the cache entry", http.MethodPatch, path, data)
	chunk.header["Content-Type"] = "application/octet-stream"
	chunk.header["Content-Range"] = fmt.Sprintf("bytes 0-%d/*", len(data)-1)
	if _, err := w.c.do(ctx, chunk); err != nil {
		return err
	}
	_, err := w.send(ctx, "finish the cache entry", path, struct {
		Size int `json:"size"`
	}{len(data)})
	return err
}

func (w *cacheV1) send(ctx context.Context, what, path string, in any) (reply, error) {
	body, err := marshal(in)
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", what, err)
	}
	r := w.request(what, http.MethodPost, path, body)
	r.header["Content-Type"] = "application/json"
	return w.c.do(ctx, r)
}

func (w *cacheV1) request(what, method, path string, body []byte) call {
	header := w.c.authorised()
	header["Accept"] = "application/json;api-version=6.0-preview.1"
	return call{what: what, method: method, url: w.c.base + "/_apis/artifactcache/" + path, header: header, body: body}
}
