package publish

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStore lets an LFS server answer in many ways.
func TestStore(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	status := func(code int, body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(code)
			_, _ = io.WriteString(rw, body)
		}
	}
	object := func(about string) http.HandlerFunc {
		return status(http.StatusOK, `{"objects":[{"oid":"`+oid+`"`+about+`}]}`)
	}
	for _, tt := range []struct {
		name    string
		answer  http.HandlerFunc
		missing bool
		err     string // a part of the error; empty: none
	}{
		{"there", object(`,"actions":{"download":{"href":"https://example.org"}}`), false, ""},
		{"not there", object(`,"error":{"code":404}`), true, ""},
		{"removed", object(`,"error":{"code":410,"message":"gone"}`), true, ""},
		{"no way to download", object(`,"actions":{"upload":{}}`), true, ""},
		{"another object", status(http.StatusOK, `{"objects":[{"oid":"x","actions":{"download":{}}}]}`), true, ""},
		{"no such page", status(http.StatusNotFound, "no"), true, ""},
		{"not implemented", status(http.StatusNotImplemented, "no"), true, ""},
		{"another size", object(`,"error":{"code":422,"message":"the size\nis wrong"}`), false, "the object " + oid + ": error 422: the size"},
		{"wrong credentials", status(http.StatusUnauthorized, ""), false, "401 Unauthorized: the token needs the permission contents: read"},
		{"forbidden", status(http.StatusForbidden, `{"message":"LFS is off"}`), false, "403 Forbidden: LFS is off"},
		{"limited", status(http.StatusTooManyRequests, ""), false, "429 Too Many Requests"},
		{"ill", status(http.StatusServiceUnavailable, "<html>"), false, "503 Service Unavailable"},
		{"no JSON", status(http.StatusOK, "<html>"), false, "not that of an LFS server"},
		{"endless", func(rw http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = rw.Write(make([]byte, 1<<16))
			}
		}, false, "more than 4194304 bytes"},
		{"cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, "EOF"},
		{"redirect", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, false, "307 Temporary Redirect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); user != "x-access-token" || password != "t" || r.Method != http.MethodPost || r.URL.Path != "/o/r.git/info/lfs/objects/batch" {
					t.Errorf("got %s %s by %s", r.Method, r.URL, user)
				}
				tt.answer(rw, r)
			}))
			t.Cleanup(s.Close)
			missing, err := newStore(s.URL+"/o/r.git", "t").missing(t.Context(), []pointer{{oid, 5}})
			if len(missing) == 1 != tt.missing || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v and the error %v, want %t and %q", missing, err, tt.missing, tt.err)
			}
		})
	}
}

func TestParsePointer(t *testing.T) {
	t.Parallel()
	const version, oid = "version https://git-lfs.github.com/spec/v1\n", "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	const plain = version + "oid sha256:" + oid + "\nsize 12345\n"
	for _, content := range []string{
		plain,
		strings.TrimSpace(plain),
		"\n" + plain + "\n",
		strings.ReplaceAll(plain, "\n", "\r\n"),
		strings.Replace(plain, "git-lfs", "hawser", 1),
		strings.Replace(plain, version, version+"ext-0-case sha256:"+oid+"\n", 1),
		plain + "x-other 1\n",
		version + "oid sha256:" + oid + "\nother x\nsize 12345\n",
	} {
		if p, ok := parsePointer([]byte(content)); !ok || p != (pointer{oid, 12345}) {
			t.Errorf("%q: got %v %v", content, p, ok)
		}
	}
	for _, content := range []string{
		"",
		version,
		strings.Replace(plain, "v1", "v2", 1),
		strings.Replace(plain, "sha256", "sha512", 1),
		strings.Replace(plain, oid, strings.ToUpper(oid), 1),
		strings.Replace(plain, oid, oid[1:], 1),
		strings.Replace(plain, "12345", "-1", 1),
		strings.Replace(plain, "12345", strings.Repeat("9", 19), 1),
		version + "size 12345\noid sha256:" + oid + "\n",
		"An example:\n" + plain,
		plain + "\nThat was an example.\n",
		plain + strings.Repeat("\n", maxPointer),
	} {
		if p, ok := parsePointer([]byte(content)); ok {
			t.Errorf("%q: got %v", content, p)
		}
	}
}
