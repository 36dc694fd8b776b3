package yamlfile_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

type password string

type service struct {
	Host    string        `default:"localhost" yaml:"host"`
	Port    int           `default:"80"        yaml:"port"`
	Ratio   float64       `yaml:"ratio"`
	On      bool          `default:"true"      yaml:"on"`
	Wait    time.Duration `default:"1m"        yaml:"wait"`
	Workers int           `default:"4"         yaml:"workers,zeroabsent"`
	Key     password      `yaml:"key,nullable"`
	Limits  struct {
		Most int `default:"9" yaml:"most"`
	} `yaml:"limits"`
	Others []service  `yaml:"others"`
	Raw    *yaml.Node `yaml:"raw"`
}

// TestDecoder checks variables, texts in place of numbers, secrets and defaults.
func TestDecoder(t *testing.T) {
	t.Parallel()
	const absent = "localhost 80 0 true 1m0s 4  9"
	tests := []struct{ name, src, want string }{
		{"defaults", "{}", absent},
		{"values", `{host: h, port: 1, ratio: 0.5, on: false, wait: 2s, workers: 3, key: k, limits: {most: 2}}`, "h 1 0.5 false 2s 3 k 2"},
		{"zeros", `{host: "", port: 0, on: false, wait: 0, workers: 0, limits: {most: 0}}`, " 0 0 false 0s 4  0"},
		{"null as absent", `{key: null}`, absent},
		{"null", `{port: null}`, "port has no value; give it one or leave it out"},
		{"texts", `{port: " 81 ", ratio: "0.5", on: "No", wait: " 3s ", workers: "0"}`, "localhost 81 0.5 false 3s 4  9"},
		{"booleans", `{on: 0}`, "localhost 80 0 false 1m0s 4  9"},
		{"variables", `{host: "a-${NAME}", port: "${PORT}", key: "${NAME}${}"}`, "a-web 82 0 true 1m0s 4 web${} 9"},
		{"not the type", `{port: "${NAME}", on: "${NAME}", wait: "${NAME}", ratio: x}`, "port: want a whole number, but the values of its variables have another type\n" +
			"on: want true or false, but the values of its variables have another type\nwait: want a duration, but the values of its variables have another type\n" +
			`ratio: want a number, got the text "x"`},
		{"not set", `{host: "${NONE}${NOR}"}`, "NONE is not set\nNOR is not set"},
		{"not a name", `{host: "${a secret}"}`, "a variable is written ${NAME}, with letters, digits and '_'"},
		{"reserved", `{host: "${TOKEN}", key: "${TOKEN}"}`, "TOKEN is for secrets"},
		{"reserved, for a secret", `{key: "${TOKEN}"}`, "localhost 80 0 true 1m0s 4 t0ken 9"},
		{"secrets", `{key: 123, limits: abc, others: abc}`, "key: want a string; quote it\nlimits: want a mapping\nothers: want a list"},
		{"nodes", `{raw: "${NONE}"}`, absent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := yamlfile.Parse("f", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			d := yamlfile.Decoder{File: f, Lenient: true, Secret: reflect.TypeFor[password](), Variables: &yamlfile.Variables{
				Lenient: true,
				Lookup: func(name string) (string, error) {
					if v, ok := map[string]string{"NAME": "web", "PORT": "82", "TOKEN": "t0ken"}[name]; ok {
						return v, nil
					}
					return "", fmt.Errorf("%s is not set", name)
				},
				Reserved: func(name string) error {
					if name == "TOKEN" {
						return fmt.Errorf("%s is for secrets", name)
					}
					return nil
				},
			}}
			var s service
			got := ""
			if d.Decode(f.Root(), &s) {
				got = fmt.Sprint(s.Host, " ", s.Port, s.Ratio, s.On, s.Wait, s.Workers, " ", s.Key, " ", s.Limits.Most)
			}
			var problems []string
			for _, p := range problemsOf(f) {
				problems = append(problems, p.Message)
			}
			if got += strings.Join(problems, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestEachField(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("host: a\nlimits: {most: 1}\nothers: [{port: 2}, {limits: {most: 3}}]\nraw: {host: b}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var s service
	f.Decode(f.Root(), &s)
	var got []string
	f.EachField("top", f.Root(), reflect.ValueOf(&s), func(path string, at *yaml.Node, v reflect.Value) {
		if v.CanInt() || v.Kind() == reflect.String {
			path += fmt.Sprintf(" %d:%d = %v", at.Line, at.Column, v)
		}
		got = append(got, path)
	})
	want := []string{
		"top.host 1:7 = a", "top.limits", "top.limits.most 2:16 = 1",
		"top.others", "top.others.port 3:17 = 2", "top.others.limits", "top.others.limits.most 3:37 = 3", "top.raw",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func problemsOf(f *yamlfile.File) yamlfile.Problems {
	ps, _ := errors.AsType[yamlfile.Problems](f.Err())
	return ps
}
