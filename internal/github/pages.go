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

// A pageReader reads a list whose pages GitHub numbers, the oldest entries first: page 1 for
// the number of the last one, then from the last one backwards.
type pageReader[T any] struct {
	op     rest.Op
	caller *rest.Caller
	path   string // ends in "?" or "&"
	most   int    // requests
	// parse decodes an entry; ok is false for one that is left out.
	parse func(json.RawMessage) (entry T, ok bool, err error)
	// until ends the reading with the newest page that has an entry for which it holds; nil:
	// none does.
	until func(T) bool

	asked int
	pages map[int][]T
}

// A pagePlace is the position of a page among the others.
type pagePlace struct {
	more bool // there is a page after this one
	next int  // number of the next page; 0 when there is none, or GitHub does not number pages
	last int  // the number of the last page; 0 when GitHub sent none
}

// read reads the pages. It returns the number of the oldest page that is kept, from which on
// there is no gap, and that of the last page.
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
	if err := r.forward(ctx, p); err != nil { // the list may have grown meanwhile
		return 0, last, err
	}
	// Backwards, because an entry that is deleted meanwhile moves later ones to earlier pages:
	// they are read twice, and not missed.
	n := last
	for ; n > 2 && r.asked < r.most && !r.found(n); n-- {
		if _, err := r.page(ctx, n-1); err != nil {
			return 0, last, err
		}
	}
	if n == 2 {
		return 1, last, nil
	}
	delete(r.pages, 1) // there is a gap behind it
	return n, last, nil
}

// found reports whether a page that was read, or one behind it, ends the reading.
func (r *pageReader[T]) found(n int) bool {
	for k, page := range r.pages {
		if k >= n && r.until != nil && slices.ContainsFunc(page, r.until) {
			return true
		}
	}
	return false
}

// forward reads the pages after p. ErrTruncated: they are too many.
func (r *pageReader[T]) forward(ctx context.Context, p pagePlace) (err error) {
	for p.more {
		if r.asked == r.most || p.next == 0 {
			return fmt.Errorf("%s: %w: its last page is not among the first %d asked for", r.op, triage.ErrTruncated, r.asked)
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

// entries returns the entries of all pages in their order; of entries with the same key it returns
// one.
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
