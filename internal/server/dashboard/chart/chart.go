// Package chart draws charts as SVG, without a script. Values go in, a text comes out.
//
// A chart looks right in light and dark pages: it has no colours of its own, but classes for the style
// sheet of the page. Lines differ by their dashes, too, and bars by their patterns, for people who do
// not distinguish the colours. Numbers that are not finite, or negative, count as missing.
package chart

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
)

// A Chart is a chart of values over time.
type Chart struct {
	Title string // names the chart for screen readers; may be untrusted
	Unit  Unit
	// Bars draws the series as bars on top of each other; else they are lines.
	Bars   bool
	Series []Series // at most [MaxSeries]; further ones are left out
	From   time.Time
	Step   time.Duration // between two values; must be more than 0
}

// MaxSeries is the number of series that can be distinguished.
const MaxSeries = 4

// A Series is a line, or the parts of bars that mean the same.
type Series struct {
	Name   string    // in the legend; may be untrusted
	Values []float64 // one for each step; NaN: none
	// Look is the colour and the dashes or the pattern, from 1 to [MaxSeries]; 0: the position of the
	// series. The style sheet has green as 3 and red as 4.
	Look int
}

// look returns the look of the series at a position.
func (s Series) look(i int) int {
	if s.Look < 1 || s.Look > MaxSeries {
		return i + 1
	}
	return s.Look
}

// A Unit is what the values of a chart mean.
type Unit int

// The units.
const (
	Count   Unit = iota // a whole number
	Seconds             // a duration
)

// The size of a chart in its own units. The page scales it. On a phone it is half as wide as on a
// desk, so texts are large enough for both.
const (
	width, height            = 480, 200
	left, right, top, bottom = 64, 12, 12, 26
	plotWidth                = width - left - right
	plotHeight               = height - top - bottom
)

// SVG returns the chart. All texts in it are escaped.
func (c Chart) SVG() string {
	c.Series = c.Series[:min(len(c.Series), MaxSeries)]
	steps := 0
	for _, s := range c.Series {
		steps = max(steps, len(s.Values))
	}
	s := newScale(c.Unit, c.highest(steps))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, height, escape(c.Title))
	for _, tick := range s.ticks {
		y := s.y(tick)
		fmt.Fprintf(&b, `<path class="grid" d="M%d %sH%d"/><text class="tick" x="%d" y="%s" text-anchor="end">%s</text>`,
			left, number(y), width-right, left-6, number(y+4), html.EscapeString(c.Unit.format(tick)))
	}
	c.timeAxis(&b, steps)
	if c.Bars {
		c.bars(&b, s, steps)
	} else {
		c.lines(&b, s, steps)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// escape escapes an untrusted text, and removes characters that XML does not have.
func escape(s string) string {
	return html.EscapeString(sanitize.Line(strings.ToValidUTF8(s, "\ufffd")))
}

// value returns a value if it can be drawn.
func (s Series) value(n int) (v float64, ok bool) {
	if n >= len(s.Values) {
		return 0, false
	}
	v = s.Values[n]
	return v, !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0
}

// highest returns the largest value, or the largest sum of a bar.
func (c Chart) highest(steps int) (highest float64) {
	for n := range steps {
		sum := 0.0
		for _, s := range c.Series {
			v, ok := s.value(n)
			if !ok {
				continue
			}
			if sum += v; !c.Bars {
				highest = max(highest, v)
			}
		}
		if c.Bars {
			highest = max(highest, sum)
		}
	}
	return min(highest, math.MaxFloat64/4)
}

// bars draws the values on top of each other.
func (c Chart) bars(b *strings.Builder, s scale, steps int) {
	each := float64(plotWidth) / float64(max(steps, 1))
	gap := min(1.5, each/5)
	for i, one := range c.Series {
		var path strings.Builder
		for n := range steps {
			v, ok := one.value(n)
			if !ok || v == 0 {
				continue
			}
			base := 0.0
			for _, below := range c.Series[:i] {
				if v, ok := below.value(n); ok {
					base += v
				}
			}
			x, upper, lower := left+float64(n)*each, s.y(base+v), s.y(base)
			fmt.Fprintf(&path, "M%s %sh%sV%sh-%sz", number(x), number(min(upper, lower-0.5)), number(each-gap), number(lower), number(each-gap))
		}
		if path.Len() > 0 {
			fmt.Fprintf(b, `<path class="bar s%d" d="%s"/>`, one.look(i), path.String())
		}
	}
}

// lines draws a line for each series. A value without neighbours is a point.
func (c Chart) lines(b *strings.Builder, s scale, steps int) {
	each := float64(plotWidth) / float64(max(steps, 1))
	for i, one := range c.Series {
		var path, points strings.Builder
		drawing := false
		for n := range steps {
			v, ok := one.value(n)
			if !ok {
				drawing = false
				continue
			}
			x, y := number(left+(float64(n)+0.5)*each), number(s.y(v))
			_, next := one.value(n + 1)
			switch {
			case drawing:
				fmt.Fprintf(&path, "L%s %s", x, y)
			case next:
				fmt.Fprintf(&path, "M%s %s", x, y)
			default:
				fmt.Fprintf(&points, `<circle class="point s%d" cx="%s" cy="%s" r="2.5"/>`, one.look(i), x, y)
			}
			drawing = true
		}
		if path.Len() > 0 {
			fmt.Fprintf(b, `<path class="line s%d" d="%s"/>`, one.look(i), path.String())
		}
		b.WriteString(points.String())
	}
}

// timeAxis draws the axis and at most five times.
func (c Chart) timeAxis(b *strings.Builder, steps int) {
	fmt.Fprintf(b, `<path class="axis" d="M%d %dH%d"/>`, left, top+plotHeight, width-right)
	if steps == 0 || c.Step <= 0 {
		return
	}
	layout := "15:04"
	if time.Duration(steps)*c.Step > 36*time.Hour {
		layout = "Jan 2"
	}
	each := float64(plotWidth) / float64(steps)
	every := max(1, (steps+3)/4)
	for n := 0; n < steps; n += every {
		x, at := left+float64(n)*each, c.From.UTC().Add(time.Duration(n)*c.Step)
		fmt.Fprintf(b, `<path class="axis" d="M%s %dv4"/><text class="tick" x="%s" y="%d">%s</text>`, number(x), top+plotHeight, number(x), height-8, at.Format(layout))
	}
}

// Legend returns the names of the series, each with a sample of its line or bar. The texts in it are
// escaped.
func (c Chart) Legend() string {
	var b strings.Builder
	b.WriteString(`<ul class="legend" role="list">`)
	for i, s := range c.Series[:min(len(c.Series), MaxSeries)] {
		kind, d := "line", "M0 5H24"
		if c.Bars {
			kind, d = "bar", "M0 0H24V10H0z"
		}
		fmt.Fprintf(&b, `<li><svg viewBox="0 0 24 10" aria-hidden="true"><path class="%s s%d" d="%s"/></svg> %s</li>`, kind, s.look(i), d, escape(s.Name))
	}
	b.WriteString(`</ul>`)
	return b.String()
}

// A scale maps values to heights.
type scale struct {
	top   float64 // the highest tick
	ticks []float64
}

// newScale returns a scale from 0 to at least a value, with ticks that are easy to read.
func newScale(u Unit, highest float64) scale {
	s := scale{top: 1}
	if highest > 0 {
		s.top = max(highest, 1e-6) // smaller numbers would have rounding errors
	}
	step := u.step(s.top / 4)
	n := math.Ceil(s.top/step - 1e-9)
	s.top = n * step
	for i := 0.0; i <= n; i++ {
		s.ticks = append(s.ticks, i*step)
	}
	return s
}

// y returns the height of a value on the chart.
func (s scale) y(v float64) float64 {
	return top + plotHeight*(1-min(max(v/s.top, 0), 1))
}

// step returns a distance between ticks that is easy to read, and at least as large as the argument.
func (u Unit) step(least float64) float64 {
	if u == Seconds {
		for _, nice := range []float64{60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 48 * 3600} {
			if least > 30 && nice >= least {
				return nice
			}
		}
		if least > 48*3600 {
			return 24 * 3600 * decimal(least/(24*3600))
		}
		if least > 15 && least <= 30 {
			return 30
		}
	}
	nice := decimal(least)
	if u == Count {
		nice = max(nice, 1)
	}
	return nice
}

// decimal returns 1, 2 or 5 times a power of ten that is at least v.
func decimal(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(v, 1e-300))))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// format formats a value with its unit.
func (u Unit) format(v float64) string {
	if u == Count {
		switch {
		case v >= 1e15:
			return strconv.FormatFloat(v, 'g', 2, 64)
		case v >= 1e6:
			return trim(v/1e6) + " M"
		case v >= 1e4:
			return trim(v/1e3) + " k"
		}
		return trim(v)
	}
	switch {
	case v == 0:
		return "0"
	case v >= 1e15:
		return strconv.FormatFloat(v, 'g', 2, 64) + " s"
	case v >= 48*3600:
		return trim(v/86400) + " d"
	case v >= 7200 || v == 3600:
		return trim(v/3600) + " h"
	case v >= 120 || v == 60:
		return trim(v/60) + " min"
	case v < 1:
		return trim(v*1000) + " ms"
	}
	return trim(v) + " s"
}

// Format formats a value for a table: with three digits and its unit.
func (u Unit) Format(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return "–"
	}
	return u.format(v)
}

// trim formats a number with at most three digits, without zeros at its end.
func trim(v float64) string {
	digits := 0
	switch {
	case v < 1:
		digits = 3
	case v < 10:
		digits = 2
	case v < 100:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return cmp.Or(s, "0")
}

// number formats a coordinate.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
