package chart_test

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/server/dashboard/chart"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func start() time.Time { return time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC) }

// series returns a series of values; a negative one is missing.
func series(name string, values ...float64) chart.Series {
	return chart.Series{Name: name, Values: values}
}

// TestGolden pins charts of all kinds.
func TestGolden(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, c := range map[string]chart.Chart{
		"bars":    {Title: "Tasks", Bars: true, Series: []chart.Series{series("done", 1, 2, 0, 7), series("failed", 0, 1, 1, 0)}, From: start(), Step: time.Hour},
		"lines":   {Title: "Waiting", Unit: chart.Seconds, Series: []chart.Series{series("p50", 0.4, nan, 30, 61), series("p99", 1, nan, nan, 200)}, From: start(), Step: 15 * time.Minute},
		"days":    {Title: "Days", Unit: chart.Seconds, Series: []chart.Series{series("p50", 90000, 200000, 4e6)}, From: start(), Step: 24 * time.Hour},
		"single":  {Title: "One", Series: []chart.Series{series("one", 3)}, From: start(), Step: time.Minute},
		"looks":   {Title: "Looks", Bars: true, Series: []chart.Series{{Name: "a", Values: []float64{1}, Look: 4}, {Name: "b", Values: []float64{1}, Look: 9}}, From: start(), Step: time.Minute},
		"zeros":   {Title: "Zeros", Bars: true, Series: []chart.Series{series("done", 0, 0, 0)}, From: start(), Step: time.Minute},
		"empty":   {Title: "Empty", Series: []chart.Series{series("nothing")}, From: start(), Step: time.Minute},
		"none":    {Title: "None"},
		"huge":    {Title: "Huge", Series: []chart.Series{series("huge", 1e18, 4999, math.MaxFloat64)}, From: start(), Step: time.Minute},
		"tiny":    {Title: "Tiny", Unit: chart.Seconds, Series: []chart.Series{series("tiny", 0.001, 0.0004)}, From: start(), Step: time.Minute},
		"hostile": {Title: `"><script>alert(1)</script>`, Series: []chart.Series{series(`</li><img src=x onerror=alert(1)>`, 1, 2)}, From: start(), Step: time.Minute},
		"many":    {Title: "Many", Series: []chart.Series{series("a", 1), series("b", 2), series("c", 3), series("d", 4), series("e", 5)}, From: start(), Step: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.ReplaceAll(c.SVG()+"\n"+c.Legend()+"\n", "><", ">\n<")
			wellFormed(t, c)
			golden := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got; -update rewrites it)\n%s", diff)
			}
		})
	}
}

var coordinate = regexp.MustCompile(`-?[0-9.]+`)

// wellFormed checks that a chart is XML whose elements and attributes are ours, and whose coordinates
// are within the picture.
func wellFormed(t *testing.T, c chart.Chart) {
	t.Helper()
	for _, text := range []string{c.SVG(), c.Legend()} {
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			element, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if !slices.Contains([]string{"svg", "path", "circle", "text", "ul", "li"}, element.Name.Local) {
				t.Errorf("an element %s in %s", element.Name.Local, text)
			}
			for _, a := range element.Attr {
				switch a.Name.Local {
				case "d", "x", "y", "cx", "cy", "r":
					for _, n := range coordinate.FindAllString(a.Value, -1) {
						if v, err := strconv.ParseFloat(n, 64); err != nil || v < -480 || v > 480 {
							t.Errorf("%s=%q in %s", a.Name.Local, a.Value, text)
						}
					}
					if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
						t.Errorf("%s=%q in %s", a.Name.Local, a.Value, text)
					}
				case "class", "viewBox", "role", "aria-label", "aria-hidden", "text-anchor":
				default:
					t.Errorf("an attribute %s in %s", a.Name.Local, text)
				}
			}
		}
	}
}

// FuzzChart draws any numbers and any texts.
func FuzzChart(f *testing.F) {
	f.Add("title", "name", 1, true, []byte{})
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e-310, math.MaxFloat64, 1e300, 59.99} {
		f.Add("<", "&\x00\xff", 0, false, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)), math.Float64bits(1)))
	}
	f.Fuzz(func(t *testing.T, title, name string, unit int, bars bool, data []byte) {
		var values []float64
		for len(data) >= 8 && len(values) < 200 {
			values, data = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data))), data[8:]
		}
		c := chart.Chart{
			Title: title, Unit: chart.Unit(unit & 1), Bars: bars, From: start(), Step: time.Hour,
			Series: []chart.Series{{Name: name, Values: values}, {Name: "second", Values: values[:len(values)/2]}},
		}
		wellFormed(t, c)
		if n := strings.Count(c.SVG(), `class="grid"`); n < 2 || n > 8 {
			t.Errorf("%d lines of the grid in %s", n, c.SVG())
		}
	})
}

// TestFormat formats values for people.
func TestFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		unit  chart.Unit
		value float64
		want  string
	}{
		{chart.Count, 0, "0"}, {chart.Count, 7, "7"}, {chart.Count, 9999, "9999"}, {chart.Count, 12000, "12 k"}, {chart.Count, 2.5e6, "2.5 M"},
		{chart.Seconds, 0, "0"}, {chart.Seconds, 0.0321, "32.1 ms"}, {chart.Seconds, 1.9, "1.9 s"}, {chart.Seconds, 60, "1 min"}, {chart.Seconds, 90, "90 s"},
		{chart.Seconds, 3600, "1 h"}, {chart.Seconds, 5400, "90 min"}, {chart.Seconds, 86400, "24 h"}, {chart.Seconds, 400000, "4.63 d"},
		{chart.Seconds, math.NaN(), "–"}, {chart.Count, -1, "–"}, {chart.Count, math.Inf(1), "–"},
	} {
		if got := tt.unit.Format(tt.value); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.value, got, tt.want)
		}
	}
}
