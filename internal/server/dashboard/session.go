package dashboard

import (
	"encoding/base64"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	sessionAge  = 12 * time.Hour
	maxSessions = 1000 // if there are more, the oldest one is ended
)

// sessions are the sessions of operators who used the login form. They are kept only in memory, so
// a restart ends them. It is safe for concurrent use.
type sessions struct {
	now    func() time.Time
	random io.Reader

	mu   sync.Mutex
	open map[string]session // by their id
}

// A session is one operator's session in one browser.
type session struct {
	operator string
	expires  time.Time
}

// begin opens a session of an operator and returns its id, which cannot be guessed.
func (s *sessions) begin(operator string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := make([]byte, 32)
	if _, err := io.ReadFull(s.random, b); err != nil {
		return "", fmt.Errorf("make a session: %w", err)
	}
	now := s.now()
	first := ""
	for k, v := range s.open {
		if !now.Before(v.expires) {
			delete(s.open, k)
		} else if first == "" || v.expires.Before(s.open[first].expires) {
			first = k
		}
	}
	if len(s.open) >= maxSessions {
		delete(s.open, first)
	}
	id := base64.RawURLEncoding.EncodeToString(b)
	s.open[id] = session{operator: operator, expires: now.Add(sessionAge)}
	return id, nil
}

// operator returns the operator of a session, or "" if the session is not known or has expired.
func (s *sessions) operator(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.open[id]
	if !ok || !s.now().Before(v.expires) {
		return ""
	}
	return v.operator
}

// end closes a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}
