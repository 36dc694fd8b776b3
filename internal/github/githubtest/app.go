package githubtest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An App is a GitHub App. A server that has one takes its tokens alone: what it signed
// itself for calls about the App, and those of its installations for all others.
type App struct {
	ID   int64
	Slug string
	Key  *rsa.PublicKey
	// Owners are whose repositories it is installed for; the id of the installation is
	// the place in the list, from 1.
	Owners []string
}

const (
	tokenLife    = time.Hour
	signatureMax = 10 * time.Minute // how far ahead a signed token may end
)

// An issued token is one of an installation.
type issued struct {
	until        time.Time
	installation int
	repos        []string // names in lower case; empty: all
	permissions  map[string]string
}

// RevokeTokens makes all installation tokens so far worthless.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// MoveInstallation gives the installation of an owner another id: the App was taken away
// and installed again.
func (s *Server) MoveInstallation(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owners := s.config.App.Owners
	k := slices.IndexFunc(owners, same(owner))
	owners = append(slices.Clone(owners), owners[k])
	owners[k] = ""
	app := *s.config.App
	app.Owners = owners
	s.config.App = &app
}

// authorize checks who calls; ok is false for an answer that refuses.
func (s *Server) authorize(r *http.Request) (refusal answer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.config.App == nil:
		return failure(http.StatusUnauthorized, "Bad credentials"), s.config.Token == "" || token == s.config.Token
	case aboutApp(r.URL.Path):
		problem := s.signed(token)
		return failure(http.StatusUnauthorized, problem), problem == ""
	}
	t, known := s.tokens[token]
	if !known || !s.now().Before(t.until) {
		return failure(http.StatusUnauthorized, "Bad credentials"), false
	}
	if !s.reaches(t, r.URL.Path) {
		return notFound(), false
	}
	if r.Method != http.MethodGet && t.permissions != nil && t.permissions["issues"] != "write" {
		return failure(http.StatusForbidden, "Resource not accessible by integration"), false
	}
	return answer{}, true
}

func aboutApp(path string) bool {
	return path == "/app" || strings.HasPrefix(path, "/app/") || strings.HasPrefix(path, "/repos/") && strings.HasSuffix(path, "/installation")
}

// reaches reports whether a token is for the repository of a path.
func (s *Server) reaches(t issued, path string) bool {
	parts := strings.Split(path, "/")
	if len(parts) < 4 || parts[1] != "repos" {
		return true
	}
	return strings.EqualFold(parts[2], s.config.App.Owners[t.installation-1]) &&
		(len(t.repos) == 0 || slices.Contains(t.repos, strings.ToLower(parts[3])))
}

// signed says what is wrong with a token that the App made itself, in GitHub's words;
// empty: nothing.
func (s *Server) signed(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "A JSON web token could not be decoded"
	}
	var head struct{ Alg string }
	var claims struct {
		Issued  int64           `json:"iat"`
		Expires int64           `json:"exp"`
		Issuer  json.RawMessage `json:"iss"`
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !part(parts[0], &head) || !part(parts[1], &claims) || head.Alg != "RS256" {
		return "A JSON web token could not be decoded"
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	now := s.now()
	switch {
	case rsa.VerifyPKCS1v15(s.config.App.Key, crypto.SHA256, sum[:], signature) != nil:
		return "A JSON web token could not be decoded"
	case strings.Trim(string(claims.Issuer), `"`) != strconv.FormatInt(s.config.App.ID, 10):
		return "Integration not found"
	case claims.Issued > now.Unix():
		return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	case claims.Expires <= now.Unix():
		return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	case claims.Expires > now.Add(signatureMax).Unix():
		return "'Expiration time' claim ('exp') is too far in the future"
	}
	return ""
}

func part(s string, v any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && json.Unmarshal(raw, v) == nil
}

func getApp(in *input) answer {
	app := in.config.App
	if app == nil {
		return notFound()
	}
	at := stamp(in.now())
	return reply(http.StatusOK, object{
		"id": app.ID, "slug": app.Slug, "node_id": nodeID("Integration", app.ID), "owner": renderUser("octo"), "name": app.Slug,
		"description": nil, "external_url": webURL, "html_url": webURL + "/apps/" + app.Slug, "created_at": at, "updated_at": at,
		"permissions": object{"issues": "write", "metadata": "read"}, "events": []string{"issues"}, "installations_count": len(app.Owners),
	})
}

func getInstallation(in *input) answer {
	app := in.config.App
	if app == nil {
		return notFound()
	}
	k := slices.IndexFunc(app.Owners, same(in.repo.owner))
	if k < 0 {
		return notFound()
	}
	id, at := int64(k+1), stamp(in.now())
	tokens := fmt.Sprintf("%s/app/installations/%d/access_tokens", apiURL, id)
	return reply(http.StatusOK, object{
		"id": id, "account": renderUser(in.repo.owner), "repository_selection": "all", "access_tokens_url": tokens,
		"repositories_url": apiURL + "/installation/repositories", "html_url": fmt.Sprintf("%s/settings/installations/%d", webURL, id),
		"app_id": app.ID, "app_slug": app.Slug, "target_id": userID(in.repo.owner), "target_type": "User",
		"permissions": object{"issues": "write", "metadata": "read"}, "events": []string{"issues"}, "created_at": at, "updated_at": at,
		"single_file_name": nil, "suspended_by": nil, "suspended_at": nil,
	})
}

func createToken(in *input) answer {
	k, err := strconv.Atoi(in.vars["id"])
	app := in.config.App
	if err != nil || app == nil || k < 1 || k > len(app.Owners) || app.Owners[k-1] == "" {
		return notFound()
	}
	var body struct {
		Repositories []string
		Permissions  map[string]string
	}
	if len(in.body) > 0 && !in.decode(&body) {
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	t := issued{until: in.now().Add(tokenLife), installation: k, permissions: maps.Clone(body.Permissions)}
	for _, name := range body.Repositories {
		if in.repos[strings.ToLower(app.Owners[k-1]+"/"+name)] == nil {
			return failure(http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
		}
		t.repos = append(t.repos, strings.ToLower(name))
	}
	token := fmt.Sprintf("ghs_%s%032d", "installation", in.id())
	if in.tokens == nil {
		in.tokens = map[string]issued{}
	}
	in.tokens[token] = t
	selection := "all"
	if len(t.repos) > 0 {
		selection = "selected"
	}
	out := object{"token": token, "expires_at": stamp(t.until), "repository_selection": selection}
	if t.permissions != nil {
		out["permissions"] = t.permissions
	}
	return reply(http.StatusCreated, out)
}
