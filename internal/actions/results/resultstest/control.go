package resultstest

// Repo returns the name of the repository.
func (s *Server) Repo() string { return s.config.Repo }

// RepositoryID returns the id of the repository.
func (s *Server) RepositoryID() int64 { return s.config.RepositoryID }

// Branch returns the default branch.
func (s *Server) Branch() string { return s.config.Branch }

// RESTToken returns the token of the REST API.
func (*Server) RESTToken() string { return restToken() }

// RuntimeToken starts a job and returns its runtime token.
func (s *Server) RuntimeToken(j Job) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, token := j.start(s.config, s.ids.next())
	s.jobs[token] = j
	return token
}

// Deny revokes a permission of all jobs (on) or grants it again (off).
func (s *Server) Deny(d Denial, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[d] = on
}

// Fault adds a fault. If several faults match a call, the one that was added first applies.
func (s *Server) Fault(f Fault) {
	f.Nth = max(f.Nth, 1)
	s.Server.Fault(f)
}

// Add adds an artifact, and returns its id.
func (s *Server) Add(a Artifact) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.artifacts.add(a)
}

// Artifacts returns the finished artifacts, oldest first.
func (s *Server) Artifacts() []Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.artifacts.finished()
}

// AddCache adds an entry. If c.Data is nil, the key is only reserved, as after a program that was
// killed.
func (s *Server) AddCache(c Cache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches.add(c)
}

// Caches returns the finished entries, oldest first.
func (s *Server) Caches() []Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caches.finished()
}
