package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"sync"
	"time"
)

// sessions are those of operators who signed in by the form. They live in memory: who
// was signed in signs in again after a restart.
type sessions struct {
	key    []byte // of tokens
	now    func() time.Time
	random io.Reader

	mu   sync.Mutex
	open map[string]session // by their id
}

// A session is that of one browser.
type session struct {
	operator string
	expires  time.Time
}

// maxSessions bounds the memory; beyond it the one that ends first is ended.
const maxSessions = 1000

// fresh returns an id that nobody can guess.
func (s *sessions) fresh() (string, error) {
	b := make([]byte, 32)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.random, b); err != nil {
		return "", fmt.Errorf("make a session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// begin opens a session of an operator and returns its id.
func (s *sessions) begin(operator string) (string, error) {
	id, err := s.fresh()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
	s.open[id] = session{operator: operator, expires: now.Add(sessionAge)}
	return id, nil
}

// operator returns whose session it is; empty: nobody's any more.
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

// token returns what a form must carry that is sent in the session.
func (s *sessions) token(id string) string {
	if id == "" {
		return ""
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// valid reports whether the token is that of the session.
func (s *sessions) valid(id, token string) bool {
	return id != "" && hmac.Equal([]byte(s.token(id)), []byte(token))
}
