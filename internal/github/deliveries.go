package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

const (
	maxDeliveryPages = 10 // of a hook's list; further deliveries are not read
	needHooks        = "webhooks: write"
)

// Deliveries are those of one webhook: of an App, or of a repository.
type Deliveries struct {
	caller *rest.Caller
	path   string // of the list
	op     rest.Op
}

// Deliveries returns the deliveries of the App's webhook.
func (a *App) Deliveries() Deliveries {
	return Deliveries{a.caller, "app/hook/deliveries", ofApp("read the deliveries of the App's webhook")}
}

// RepositoryDeliveries returns the deliveries of the active webhooks of a repository, "owner/name",
// whose address ends with a path.
func RepositoryDeliveries(ctx context.Context, c *Client, repository, path string) (list []Deliveries, err error) {
	owner, repo, _ := strings.Cut(repository, "/")
	o := rest.InRepository("read the webhooks of", owner, repo, needHooks)
	hooks := fmt.Sprintf("repos/%s/%s/hooks", owner, repo)
	for page, err := range rest.Pages[hook](ctx, c.caller, o, hooks+"?") {
		if err != nil {
			return nil, err
		}
		for _, h := range page {
			if u, err := url.Parse(h.Config.URL); err == nil && h.Active && strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), path) {
				o := rest.InRepository("read the deliveries of a webhook of", owner, repo, needHooks)
				list = append(list, Deliveries{c.caller, fmt.Sprintf("%s/%d/deliveries", hooks, h.ID), o})
			}
		}
	}
	return list, nil
}

type hook struct {
	ID     int64 `json:"id"`
	Active bool  `json:"active"`
	Config struct {
		URL string `json:"url"`
	} `json:"config"`
}

// A delivery is an attempt to deliver an event. All attempts for one event have the same GUID.
type delivery struct {
	ID   int64     `json:"id"`
	GUID string    `json:"guid"`
	At   time.Time `json:"delivered_at"`
	Code int       `json:"status_code"`
}

// Failed returns the ids of the deliveries since a time that failed, and of which no later attempt
// succeeded; the newest first, one for each event. It reads the newest 1,000 deliveries at most:
// the error then matches triage.ErrTruncated.
func (d Deliveries) Failed(ctx context.Context, since time.Time) (ids []int64, err error) {
	ctx = rest.ShareWait(ctx)
	seen := map[string]bool{}
	query := fmt.Sprintf("%s?per_page=%d", d.path, rest.PageSize)
	cursor := ""
	for range maxDeliveryPages {
		var page []delivery
		path := query
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		r, err := d.caller.Do(ctx, d.op, rest.Call{Method: http.MethodGet, Path: path, Out: &page})
		if err != nil {
			return ids, err
		}
		for _, one := range page {
			if one.At.Before(since) {
				return ids, nil
			}
			if !seen[one.GUID] && (one.Code < 200 || one.Code > 299) {
				ids = append(ids, one.ID)
			}
			seen[one.GUID] = true
		}
		if cursor = r.Cursor; cursor == "" {
			return ids, nil
		}
	}
	return ids, fmt.Errorf("%s: %w: it has more than %d", d.op, triage.ErrTruncated, maxDeliveryPages*rest.PageSize)
}

// Redeliver asks GitHub to deliver an event again, with the same content and signature.
func (d Deliveries) Redeliver(ctx context.Context, id int64) error {
	o := d.op
	o.What = strings.Replace(o.What, "read the deliveries", "repeat a delivery", 1)
	_, err := d.caller.Do(ctx, o, rest.Call{Method: http.MethodPost, Path: fmt.Sprintf("%s/%d/attempts", d.path, id)})
	return err
}
