package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/internal/testenv"
)

var pictureFile = flag.String("picture", "", "draw a session into this SVG file")

// TestPicture draws the SVG picture of the README: a session of domtap on the demo's page. The terminals show the output of the commands.
// The page is drawn from the boxes and names in the output of `domtap dom`. make picture runs the test.
func TestPicture(t *testing.T) {
	if *pictureFile == "" {
		t.Skip("make picture draws the picture")
	}
	ctx := testenv.Within(t, time.Minute)
	err := onStage(ctx, testenv.Program(t), io.Discard, func(s *stage, url string) error {
		session, err := s.session(ctx, url)
		if err != nil {
			return err
		}
		return os.WriteFile(*pictureFile, []byte(draw(session)), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Sizes in the picture, in its own pixels.
const (
	pageWidth, pageHeight = 775, 725
	pageScale             = 0.52
	margin                = 10
	columnGap             = 12
	leftWidth             = int(pageWidth * pageScale)
	rightX                = margin + leftWidth + columnGap
	rightWidth            = 590
	pictureWidth          = rightX + rightWidth + margin
	lineHeight            = 15
	barHeight             = 24
	badgeHeight           = 19
	columns               = 78 // columns of the terminal; letters are 7.25 wide
)

// shownLots is the URL query that sets the number of lots on the page.
const shownLots = "?lots=2"

// shownAddress replaces the address of the page, because its port differs from run to run.
const shownAddress = "http://localhost:8080/"

// boughtLot is the lot on which the session bids.
const boughtLot = "Lighthouse lamp"

// latest is the heading of the list of bids.
const latest = "Latest bids"

// shown holds the commands of the session with their output, and the page after the click.
type shown struct {
	commands []printed
	page     []element
}

// printed is a command with its output.
type printed struct {
	command string
	output  string
}

// element holds the fields of an element of `domtap dom --json` that the picture uses.
type element struct {
	Ref      uint32
	Tag      string
	Role     string
	Text     string
	Value    string
	Checked  string
	Disabled bool
	Rect     struct{ X, Y, Width, Height float64 }
}

// session opens the page, reads it, bids, and watches the rivals' bids.
func (s *stage) session(ctx context.Context, url string) (shown, error) {
	var all shown
	run := func(args ...string) (printed, error) {
		output, err := s.command(ctx, args...).Output()
		if err != nil {
			return printed{}, fmt.Errorf("domtap %s: %w", args[0], withStderr(err))
		}
		text := strings.ReplaceAll(string(output), url, shownAddress)
		return printed{"domtap " + strings.Join(args, " "), strings.TrimRight(text, "\n")}, nil
	}
	if _, err := run("open", url+shownLots, "--viewport", fmt.Sprintf("%dx%d", pageWidth, pageHeight)); err != nil {
		return all, err
	}
	ref, _, err := s.button(ctx, boughtLot)
	if err != nil {
		return all, err
	}
	read, err := run("compact")
	for err == nil && strings.Contains(read.output, "disabled") { // disabled only briefly; a reader would not click such a button
		read, err = run("compact")
	}
	if err != nil {
		return all, err
	}
	clicked, err := run("click", strconv.FormatUint(uint64(ref), 10))
	if err != nil {
		return all, err
	}
	all.commands = append(all.commands, read, clicked)
	text, err := s.command(ctx, "dom", "--all", "--json").Output()
	if err != nil {
		return all, fmt.Errorf("domtap dom: %w", withStderr(err))
	}
	var page struct{ Elements []element }
	if err := json.Unmarshal(text, &page); err != nil {
		return all, fmt.Errorf("read what domtap dom printed: %w", err)
	}
	all.page = page.Elements
	watched, err := run("watch", "--count", "1")
	all.commands = append(all.commands, watched)
	return all, err
}

// withStderr adds the standard error of a command to its error.
func withStderr(err error) error {
	if exit, ok := err.(*exec.ExitError); ok && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}

// canvas collects the SVG.
type canvas struct{ strings.Builder }

func (c *canvas) add(format string, args ...any) {
	fmt.Fprintf(c, format+"\n", args...)
}

// lines returns the typed command and its output.
func (p printed) lines() []string {
	return append([]string{"$ " + p.command}, strings.Split(p.output, "\n")...)
}

// draw draws the page on the left and a terminal on the right.
func draw(session shown) string {
	var c canvas
	var lines []string
	for _, p := range session.commands {
		for _, line := range p.lines() {
			lines = append(lines, wrap(line, columns)...)
		}
	}
	height := max(barHeight+int(pageHeight*pageScale), barHeight+lineHeight*len(lines)+18)
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title">`,
		pictureWidth, height+2*margin, pictureWidth, height+2*margin)
	c.add(`<title id="title">A page in a browser, and domtap in a terminal: it lists the page's elements, clicks one, prints what changed, and follows further changes.</title>`)
	c.add(`<style>text{white-space:pre}.t{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6deeb}` +
		`.p{font-family:Georgia,"DejaVu Serif",serif}.c{fill:#fff;font-weight:bold}.r{fill:#e3b341}.a{fill:#56d364}.d{fill:#ff7b72}.h{fill:#8b949e}</style>`)
	c.add(`<rect width="100%%" height="100%%" rx="12" fill="#eceff4"/>`)
	drawPage(&c, session, height-barHeight)
	drawTerminal(&c, height, lines)
	c.add(`</svg>`)
	return c.String()
}

// drawBar draws the title bar of a window.
func drawBar(c *canvas, x, y, width int, color, text string) {
	c.add(`<path d="M%d %dv-%da8 8 0 0 1 8-8h%da8 8 0 0 1 8 8v%dz" fill="%s"/>`, x, y+barHeight, barHeight-8, width-16, barHeight-8, color)
	for i, dot := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		c.add(`<circle cx="%d" cy="%d" r="5" fill="%s"/>`, x+16+16*i, y+barHeight/2, dot)
	}
	c.add(`<text x="%d" y="%d" class="t h">%s</text>`, x+68, y+barHeight/2+4, html.EscapeString(text))
}

func drawTerminal(c *canvas, height int, lines []string) {
	drawBar(c, rightX, margin, rightWidth, "#21262d", "")
	c.add(`<rect x="%d" y="%d" width="%d" height="%d" fill="#0d1117"/>`, rightX, margin+barHeight, rightWidth, height-barHeight)
	for i, line := range lines {
		c.add(`<text x="%d" y="%d" class="t">%s</text>`, rightX+12, margin+barHeight+12+lineHeight*i+6, colored(line))
	}
}

var refPattern = regexp.MustCompile(`^((?:[-+~] )?)(\[\d+\])(.*)$`)

// colored adds colors to a line: to a command, a ref, an added or removed element, or a header.
func colored(line string) string {
	switch parts := refPattern.FindStringSubmatch(line); {
	case parts != nil:
		class := map[string]string{"+ ": "a", "- ": "d"}[parts[1]]
		return fmt.Sprintf(`%s<tspan class="r">%s</tspan><tspan class="%s">%s</tspan>`, parts[1], parts[2], class, html.EscapeString(parts[3]))
	case strings.HasPrefix(line, "$ "):
		return fmt.Sprintf(`<tspan class="a">$</tspan><tspan class="c">%s</tspan>`, html.EscapeString(line[1:]))
	case strings.HasPrefix(line, "URL:") || strings.HasPrefix(line, "Watching:") || strings.HasSuffix(line, ":"):
		return fmt.Sprintf(`<tspan class="h">%s</tspan>`, html.EscapeString(line))
	}
	return html.EscapeString(line)
}

// wrap breaks a line between words into parts of at most limit characters. Later parts are indented.
func wrap(line string, limit int) []string {
	const indent = "    "
	var parts []string
	for utf8.RuneCountInString(line) > limit {
		cut := strings.LastIndex(string([]rune(line)[:limit+1]), " ")
		if strings.TrimSpace(line[:max(cut, 0)]) == "" {
			break // a single long word
		}
		parts, line = append(parts, line[:cut]), indent+line[cut+1:]
	}
	return append(parts, line)
}

// drawPage draws the page from the boxes of its elements. A badge shows the ref of each interactive element. A frame marks the elements
// that the click added.
func drawPage(c *canvas, session shown, height int) {
	drawBar(c, margin, margin, leftWidth, "#dfe3ea", shownAddress+shownLots)
	c.add(`<svg x="%d" y="%d" width="%d" height="%d" viewBox="0 0 %d %d" preserveAspectRatio="xMidYMin slice" class="p">`,
		margin, margin+barHeight, leftWidth, height, pageWidth, int(float64(height)/pageScale))
	c.add(`<rect width="100%%" height="100%%" fill="#f7f3ea"/>`)
	added := addedRefs(session.clicked())
	drawCards(c, session.page)
	for _, e := range session.page {
		drawElement(c, e)
		if slices.Contains(added, e.Ref) {
			c.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="6" fill="none" stroke="#2da44e" stroke-width="3"/>`,
				e.Rect.X-4, e.Rect.Y-3, e.Rect.Width+8, e.Rect.Height+6)
		}
	}
	drawBadges(c, session.page)
	c.add(`</svg>`)
}

// clicked returns the output of the click.
func (s shown) clicked() string {
	for _, p := range s.commands {
		if strings.HasPrefix(p.command, "domtap click ") {
			return p.output
		}
	}
	return ""
}

// addedRefs returns the refs of new and renamed elements in the output of an action.
func addedRefs(output string) []uint32 {
	var refs []uint32
	for line := range strings.Lines(output) {
		parts := refPattern.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts != nil && (parts[1] == "+ " || parts[1] == "~ ") {
			if ref, err := strconv.ParseUint(strings.Trim(parts[2], "[]"), 10, 32); err == nil {
				refs = append(refs, uint32(ref))
			}
		}
	}
	return refs
}

func interactive(e element) bool {
	return slices.Contains([]string{"link", "button", "checkbox", "searchbox"}, e.Role)
}

// drawCards draws the card of each lot around its heading and its last button. `domtap dom` does not list the cards, because they have no
// content of their own.
func drawCards(c *canvas, page []element) {
	for i, e := range page {
		if e.Role != "heading" || e.Text == latest || i+1 == len(page) || page[i+1].Role != "link" {
			continue
		}
		bottom := e.Rect.Y
		for _, below := range page {
			if below.Role == "button" && below.Rect.X == e.Rect.X && below.Rect.Y < e.Rect.Y+250 {
				bottom = max(bottom, below.Rect.Y+below.Rect.Height)
			}
		}
		c.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="#fff" stroke="#ddd3bd"/>`,
			e.Rect.X-17, e.Rect.Y-124, e.Rect.Width+34, bottom-e.Rect.Y+140)
		c.add(`<rect x="%g" y="%g" width="%g" height="96" rx="5" fill="#e6e0d1"/>`, e.Rect.X, e.Rect.Y-108, e.Rect.Width)
	}
}

func drawElement(c *canvas, e element) {
	r := e.Rect
	switch e.Role {
	case "banner":
		c.add(`<rect x="%g" y="%g" width="%g" height="%g" fill="#1d2a3a"/>`, r.X, r.Y, r.Width, r.Height)
	case "button":
		fill := "#1d2a3a"
		if strings.HasPrefix(e.Text, "Withdraw") {
			fill = "#b4872b"
		}
		if e.Disabled {
			fill = "#a9a9a9"
		}
		c.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="5" fill="%s"/>`, r.X, r.Y, r.Width, r.Height, fill)
		drawLines(c, e)
	case "checkbox":
		c.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="2" fill="#fff" stroke="#555"/>`, r.X, r.Y, r.Width, r.Height)
		if e.Checked == "CHECKED_STATE_TRUE" {
			c.add(`<path d="M%g %gl4 4 7-8" fill="none" stroke="#1d2a3a" stroke-width="2"/>`, r.X+1, r.Y+6)
		}
	case "searchbox":
		c.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="12" fill="#fff"/>`, r.X, r.Y, r.Width, r.Height)
	case "heading":
		// A heading around a link has the link's text. The text is drawn with the link.
		if e.Text == latest {
			writeText(c, r.X, r.Y+r.Height-5, 17, "#1d2a3a", "bold", e.Text)
		}
	case "paragraph":
		writeText(c, r.X, r.Y+r.Height-7, 20, "#b4872b", "normal", e.Text)
	case "label":
		drawLabel(c, e)
	case "link":
		ink, weight := "#1d2a3a", "normal"
		if r.Y < 62 {
			ink = "#f7f3ea"
		} else if r.Height > 18 && r.X < 400 {
			weight = "bold"
		}
		// The box of a link is as wide as its text. textLength gives the text this width in any font of the viewer.
		c.add(`<text x="%g" y="%g" font-size="17" fill="%s" font-weight="%s" textLength="%g" lengthAdjust="spacingAndGlyphs">%s</text>`,
			r.X, r.Y+r.Height*0.78, ink, weight, r.Width, html.EscapeString(e.Text))
	}
}

// drawLabel draws a label next to its box, or before its field.
func drawLabel(c *canvas, e element) {
	if e.Rect.Y < 62 {
		writeText(c, labelX(e), e.Rect.Y+15, 16, "#f7f3ea", "normal", e.Text)
		return
	}
	writeText(c, labelX(e), e.Rect.Y+15, 16, "#1d2a3a", "normal", e.Text)
}

// labelX returns the start of the text of a label.
func labelX(e element) float64 {
	if e.Rect.Y < 62 {
		return e.Rect.X
	}
	return e.Rect.X + 26
}

// drawLines draws the text of a button centered, in as many lines as necessary.
func drawLines(c *canvas, e element) {
	var lines []string
	for word := range strings.FieldsSeq(e.Text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= int(e.Rect.Width/8.2) {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	top := e.Rect.Y + e.Rect.Height/2 - float64(len(lines))*11.5
	for i, line := range lines {
		c.add(`<text x="%g" y="%g" font-size="16" fill="#fff" text-anchor="middle">%s</text>`,
			e.Rect.X+e.Rect.Width/2, top+float64(i)*23+17, html.EscapeString(line))
	}
}

func writeText(c *canvas, x, y float64, size int, fill, weight, text string) {
	c.add(`<text x="%g" y="%g" font-size="%d" fill="%s" font-weight="%s">%s</text>`, x, y, size, fill, weight, html.EscapeString(text))
}

// box is a rectangle on the page, in pixels.
type box struct{ x, y, width, height float64 }

func (b box) overlaps(o box) bool {
	return b.x < o.x+o.width && o.x < b.x+b.width && b.y < o.y+o.height && o.y < b.y+b.height
}

// drawBadges draws the ref of each interactive element at its box. A badge covers neither a text nor another badge.
func drawBadges(c *canvas, page []element) {
	taken := texts(page)
	for _, e := range page {
		if !interactive(e) {
			continue
		}
		b := badge(e, taken)
		taken = append(taken, b)
		c.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="4" fill="#e3b341"/>`, b.x, b.y, b.width, b.height)
		c.add(`<text x="%g" y="%g" font-size="15" font-family="monospace" font-weight="bold" fill="#1d2a3a" text-anchor="middle">%d</text>`, b.x+b.width/2, b.y+15, e.Ref)
	}
}

// badge returns the place of a badge: before the box, inside at its end, above it, or below it.
func badge(e element, taken []box) box {
	r := e.Rect
	b := box{width: float64(10 + 10*len(strconv.FormatUint(uint64(e.Ref), 10))), height: badgeHeight}
	middle := r.Y + (r.Height-badgeHeight)/2
	places := [][2]float64{{r.X - b.width - 2, middle}, {r.X + r.Width - b.width - 8, middle}, {r.X, r.Y - badgeHeight}, {r.X, r.Y + r.Height}}
	for _, place := range places {
		b.x, b.y = place[0], place[1]
		if b.x >= 0 && b.y >= 0 && !slices.ContainsFunc(taken, b.overlaps) {
			return b
		}
	}
	return b
}

// texts returns the boxes of the page's texts.
func texts(page []element) []box {
	var all []box
	for _, e := range page {
		b := box{e.Rect.X, e.Rect.Y, e.Rect.Width, e.Rect.Height}
		switch e.Role {
		case "button", "link", "paragraph":
			all = append(all, b)
		case "heading":
			b.width = min(b.width, float64(10*len(e.Text)))
			all = append(all, b)
		case "label": // the box of a label includes the field
			x := labelX(e)
			all = append(all, box{x, b.y, min(b.x+b.width-x, float64(9*len(e.Text))), b.height})
		}
	}
	return all
}
