package github

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// A pageReader reads a list with numbered pages, the oldest entries first. It reads page 1, which
// names the number of the last page. Then it reads from the last page backwards.
type pageReader[T any] struct {
	op     rest.Op
	caller *rest.Caller
	path   string // ends in "?" or "&"
	most   int    // maximal number of requests
	// parse decodes an entry; ok is false for an entry to omit.
	parse func(json.RawMessage) (entry T, ok bool, err error)
	// until stops the reading after a page with an entry for which it returns true. Nil: no entry
	// stops the reading.
	until func(T) bool

	asked int
	pages map[int][]T
}

// A pagePlace is the position of a page among the others.
type pagePlace struct {
	more bool // there is a page after this one
	next int  // number of the next page; 0 if there is none, or if GitHub does not number the pages
	last int  // number of the last page; 0 if GitHub did not send it
}

// read reads the pages. It returns the number of the oldest page of the result and the number of
// the last page. All pages between them were read.
func (r *pageReader[T]) read(ctx context.Context) (oldest, last int, err error) {
	p, err := r.page(ctx, 1)
	switch {
	case err != nil || !p.more:
		return 1, 1, err
	case p.last < 2:
		return 1, len(r.pages), r.forward(ctx, p)
	}
	last = p.last
	if p, err = r.page(ctx, last); err != nil {
		return 0, last, err
	}
	if err := r.forward(ctx, p); err != nil { // the list may have become longer meanwhile
		return 0, last, err
	}
	// The pages are read backwards. If an entry is deleted meanwhile, later entries move to earlier
	// pages, so that some are read twice, but none is missed.
	n := last
	for ; n > 2 && r.asked < r.most && !r.found(n); n-- {
		if _, err := r.page(ctx, n-1); err != nil {
			return 0, last, err
		}
	}
	if n == 2 {
		return 1, last, nil
	}
	delete(r.pages, 1) // the pages between 1 and n were not read
	return n, last, nil
}

// found reports whether page n or a later page contains an entry that stops the reading.
func (r *pageReader[T]) found(n int) bool {
	for k, page := range r.pages {
		if k >= n && r.until != nil && slices.ContainsFunc(page, r.until) {
			return true
		}
	}
	return false
}

// forward reads the pages after p. ErrTruncated means that there are too many.
func (r *pageReader[T]) forward(ctx context.Context, p pagePlace) (err error) {
	for p.more {
		if r.asked == r.most || p.next == 0 {
			return fmt.Errorf("%s: %w: its last page is not among those that were read (%d)", r.op, triage.ErrTruncated, r.asked)
		}
		if p, err = r.page(ctx, p.next); err != nil {
			return err
		}
	}
	return nil
}

// page reads one page.
func (r *pageReader[T]) page(ctx context.Context, n int) (pagePlace, error) {
	var list []json.RawMessage
	path := fmt.Sprintf("%sper_page=%d&page=%d", r.path, rest.PageSize, n)
	r.asked++
	reply, err := r.caller.Do(ctx, r.op, rest.Call{Method: http.MethodGet, Path: path, Out: &list})
	if err == nil && list == nil {
		err = fmt.Errorf("%s: the answer is not a list", r.op)
	}
	if err != nil {
		return pagePlace{}, err
	}
	if r.pages == nil {
		r.pages = map[int][]T{}
	}
	r.pages[n] = nil
	for _, raw := range list {
		entry, ok, err := r.parse(raw)
		if err != nil {
			return pagePlace{}, fmt.Errorf("%s: %w", r.op, err)
		}
		if ok {
			r.pages[n] = append(r.pages[n], entry)
		}
	}
	return pagePlace{more: reply.More || reply.Named, next: reply.Next, last: reply.Last}, nil
}

// entries returns the entries of all pages in the order of the pages. Of entries with the same key
// it returns only the first.
func entries[T any, K comparable](pages map[int][]T, key func(T) K) []T {
	var list []T
	seen := map[K]bool{}
	for _, n := range slices.Sorted(maps.Keys(pages)) {
		for _, e := range pages[n] {
			if k := key(e); !seen[k] {
				seen[k] = true
				list = append(list, e)
			}
		}
	}
	return list
}
