package executor

import (
	"context"
	"strings"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/memory"
)

// counted returns a store that reports which proposals were made and how proposals ended, each once: when
// the record that contains the change was saved. The store is for one attempt. Nil: there is no store.
func counted(s memory.Store, agent string, report observe.Func) memory.Store {
	if s == nil || report == nil {
		return s
	}
	return &countedStore{Store: s, agent: agent, report: report}
}

// A countedStore is used by one attempt, which works on one issue.
type countedStore struct {
	memory.Store
	agent  string
	report observe.Func
	loaded memory.Record // as the attempt last loaded or saved it
}

// Load implements memory.Store.
func (s *countedStore) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	r, err := s.Store.Load(ctx, repo, issue)
	if s.loaded = r; err != nil {
		s.loaded = memory.Record{}
	}
	return r, err
}

// Save implements memory.Store.
func (s *countedStore) Save(ctx context.Context, r memory.Record) error {
	err := s.Store.Save(ctx, r)
	if err != nil {
		return err
	}
	for _, p := range r.Proposals {
		old, known := s.loaded.Proposal(p.Number)
		known = known && strings.EqualFold(s.loaded.Repo, r.Repo) && s.loaded.Issue == r.Issue
		seen := observe.Observation{Event: observe.ProposalChanged, Agent: s.agent, Repo: r.Repo, Carrier: string(p.Carrier), N: 1}
		if !known {
			seen.Status = "made"
			s.report(seen)
		}
		if p.State.Final() && (!known || old.State == memory.Pending) {
			seen.Status = string(p.State)
			s.report(seen)
		}
	}
	s.loaded = r
	return nil
}
