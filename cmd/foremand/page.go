package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/server/dashboard"
)

// newPage returns the dashboard.
func newPage(h *harness) (http.Handler, error) {
	agents, operators := h.credentials.Configured()
	o := dashboard.Options{
		Queue: h.queue, Private: agents || h.fleet != nil,
		Secure: h.s.Server.BehindTLS, Health: h.report, GitHub: pagesOf(h.s.Identity.APIURL), Log: h.log,
	}
	if operators {
		o.Operators = h.credentials.Operator
	}
	return dashboard.New(o)
}

// pagesOf returns the address of GitHub's pages that belong to an API: of an Enterprise
// Server they stand beside it.
func pagesOf(api string) string {
	u, err := url.Parse(api)
	if api == "" || err != nil || u.Host == "api.github.com" {
		return ""
	}
	return u.Scheme + "://" + strings.TrimPrefix(u.Host, "api.")
}
