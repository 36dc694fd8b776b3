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

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// An App is a GitHub App. A server with an App accepts only its tokens. Calls about the App need a
// token that the App has signed itself. All other calls need an installation token.
type App struct {
	ID   int64
	Slug string
	Key  *rsa.PublicKey
	// Owners are the owners whose repositories have the App installed. The id of an installation is
	// its position in this list, from 1.
	Owners []string
}

const (
	tokenLife    = time.Hour
	signatureMax = 10 * time.Minute // maximal time until a signed token expires
)

// An issued token is an installation token.
type issued struct {
	until        time.Time
	installation int
	repos        []string // names in lower case; empty: all
	permissions  map[string]string
}

// credentials are the tokens that a server accepts.
type credentials struct {
	token  string // empty: any
	app    *App   // nil: the server checks token instead
	clock  *state.Clock
	tokens map[string]issued // of the App's installations
}

// move gives the installation of an owner a new id.
func (c *credentials) move(owner string) {
	owners := slices.Clone(c.app.Owners)
	k := slices.IndexFunc(owners, state.Same(owner))
	owners = append(owners, owners[k])
	owners[k] = ""
	app := *c.app
	app.Owners = owners
	c.app = &app
}

// authorize checks the token of a call. If ok is false, refusal is the response.
func (c *credentials) authorize(r *http.Request) (refusal answer, ok bool) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case c.app == nil:
		return failure(http.StatusUnauthorized, "Bad credentials"), c.token == "" || token == c.token
	case aboutApp(r.URL.Path):
		problem := c.signed(token)
		return failure(http.StatusUnauthorized, problem), problem == ""
	}
	t, known := c.tokens[token]
	if !known || !c.clock.Now().Before(t.until) {
		return failure(http.StatusUnauthorized, "Bad credentials"), false
	}
	if !c.reaches(t, r.URL.Path) {
		return notFound(), false
	}
	if r.Method != http.MethodGet && t.permissions != nil && t.permissions["issues"] != "write" {
		a := failure(http.StatusForbidden, "Resource not accessible by integration")
		a.header.Set("X-Accepted-Github-Permissions", "issues=write; pull_requests=write")
		return a, false
	}
	return answer{}, true
}

func aboutApp(path string) bool {
	return path == "/app" || strings.HasPrefix(path, "/app/") || strings.HasPrefix(path, "/repos/") && strings.HasSuffix(path, "/installation")
}

// reaches reports whether a token gives access to the repository in a path.
func (c *credentials) reaches(t issued, path string) bool {
	parts := strings.Split(path, "/")
	if len(parts) < 4 || parts[1] != "repos" {
		return true
	}
	return strings.EqualFold(parts[2], c.app.Owners[t.installation-1]) &&
		(len(t.repos) == 0 || slices.Contains(t.repos, strings.ToLower(parts[3])))
}

// signed checks a token that the App has signed itself, and returns GitHub's error. Empty: the
// token is valid.
func (c *credentials) signed(token string) string {
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
	now := c.clock.Now()
	switch {
	case rsa.VerifyPKCS1v15(c.app.Key, crypto.SHA256, sum[:], signature) != nil:
		return "A JSON web token could not be decoded"
	case strings.Trim(string(claims.Issuer), `"`) != strconv.FormatInt(c.app.ID, 10):
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
	app := in.credentials.app
	if app == nil {
		return notFound()
	}
	at := render.Stamp(in.clock.Now())
	return reply(http.StatusOK, object{
		"id": app.ID, "slug": app.Slug, "node_id": render.NodeID("Integration", app.ID), "owner": render.User("octo"), "name": app.Slug,
		"description": nil, "external_url": render.WebURL, "html_url": render.WebURL + "/apps/" + app.Slug, "created_at": at, "updated_at": at,
		"permissions": object{"issues": "write", "metadata": "read"}, "events": []string{"issues"}, "installations_count": len(app.Owners),
	})
}

func getInstallation(in *input) answer {
	app := in.credentials.app
	if app == nil {
		return notFound()
	}
	k := slices.IndexFunc(app.Owners, state.Same(in.repo.Owner))
	if k < 0 {
		return notFound()
	}
	id, at := int64(k+1), render.Stamp(in.clock.Now())
	tokens := fmt.Sprintf("%s/app/installations/%d/access_tokens", render.APIURL, id)
	return reply(http.StatusOK, object{
		"id": id, "account": render.User(in.repo.Owner), "repository_selection": "all", "access_tokens_url": tokens,
		"repositories_url": render.APIURL + "/installation/repositories", "html_url": fmt.Sprintf("%s/settings/installations/%d", render.WebURL, id),
		"app_id": app.ID, "app_slug": app.Slug, "target_id": render.UserID(in.repo.Owner), "target_type": "User",
		"permissions": object{"issues": "write", "metadata": "read"}, "events": []string{"issues"}, "created_at": at, "updated_at": at,
		"single_file_name": nil, "suspended_by": nil, "suspended_at": nil,
	})
}

func createToken(in *input) answer {
	k, err := strconv.Atoi(in.vars["id"])
	app := in.credentials.app
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
	t := issued{until: in.clock.Now().Add(tokenLife), installation: k, permissions: maps.Clone(body.Permissions)}
	for _, name := range body.Repositories {
		if in.repos[strings.ToLower(app.Owners[k-1]+"/"+name)] == nil {
			return failure(http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
		}
		t.repos = append(t.repos, strings.ToLower(name))
	}
	token := fmt.Sprintf("ghs_%s%032d", "installation", in.clock.ID())
	in.credentials.tokens[token] = t
	selection := "all"
	if len(t.repos) > 0 {
		selection = "selected"
	}
	out := object{"token": token, "expires_at": render.Stamp(t.until), "repository_selection": selection}
	if t.permissions != nil {
		out["permissions"] = t.permissions
	}
	return reply(http.StatusCreated, out)
}

// hookID is the id of the only webhook of each repository.
const hookID = 1

// hooks are the webhooks of the App and of all repositories, with common deliveries. Without a
// delivery the token may not read them.
type hooks struct {
	list      []delivery // the oldest first
	redeliver func(guid string)
}

// A delivery is an attempt to deliver an event.
type delivery struct {
	id     int64
	guid   string
	at     time.Time
	status int
}

func (h *hooks) add(c *state.Clock, guid string, status int) {
	h.list = append(h.list, delivery{c.ID(), guid, c.Now(), status})
}

func listHooks(in *input) answer {
	if len(in.hooks.list) == 0 {
		return failure(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	at := render.Stamp(in.clock.Now())
	url := fmt.Sprintf("%s/repos/%s/%s/hooks/%d", render.APIURL, in.repo.Owner, in.repo.Name, hookID)
	return reply(http.StatusOK, []object{{
		"type": "Repository", "id": hookID, "name": "web", "active": true, "events": []string{"issues"}, "created_at": at, "updated_at": at,
		"config": object{"url": "https://foreman.example.com/github/webhook", "content_type": "json", "insecure_ssl": "0"},
		"url":    url, "test_url": url + "/test", "ping_url": url + "/pings", "deliveries_url": url + "/deliveries",
		"last_response": object{"code": nil, "status": "unused", "message": nil},
	}})
}

// listDeliveries lists the newest first, a page from the delivery whose id is the cursor.
func listDeliveries(in *input) answer {
	size := min(max(number(in.r, "per_page", 30), 1), 100)
	from, _ := strconv.ParseInt(in.r.URL.Query().Get("cursor"), 10, 64) // 0: the newest
	list := []object{}
	for _, d := range slices.Backward(in.hooks.list) {
		if from != 0 && d.id > from {
			continue
		}
		if len(list) == size {
			a := reply(http.StatusOK, list)
			next := *in.r.URL
			q := next.Query()
			q.Set("cursor", strconv.FormatInt(d.id, 10))
			next.RawQuery = q.Encode()
			a.header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, render.APIURL, next.RequestURI()))
			return a
		}
		list = append(list, object{
			"id": d.id, "guid": d.guid, "delivered_at": render.Stamp(d.at), "redelivery": false, "duration": 0.1, "status": http.StatusText(d.status),
			"status_code": d.status, "event": "issues", "action": "opened", "installation_id": nil, "repository_id": nil,
		})
	}
	return reply(http.StatusOK, list)
}

func redeliver(in *input) answer {
	id, err := strconv.ParseInt(in.vars["delivery"], 10, 64)
	for _, d := range in.hooks.list {
		if err == nil && d.id == id {
			in.hooks.add(in.clock, d.guid, http.StatusAccepted)
			go in.hooks.redeliver(d.guid)
			return reply(http.StatusAccepted, object{})
		}
	}
	return notFound()
}
