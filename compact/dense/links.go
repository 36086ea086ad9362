package dense

import (
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/compact/internal/site"
	"github.com/domtap/domtap/dom"
)

// minReferred is the minimum length of name and target in bytes for which a reference is shorter.
const minReferred = 12

// links decides which links print their targets, and which are printed as references to others.
type links struct {
	// shared holds the names that several links of one group have although their targets differ.
	shared map[linkName]sharing
	// printed holds the first link for each name and target.
	printed map[linkPlace]*dom.Element
}

// minRepeated is the minimum length, in characters, of a name that later table rows replace by a reference.
const minRepeated = 24

type linkName struct {
	group int32
	name  string
}

type linkPlace struct{ name, href string }

// sharing describes how the targets of links with one name differ.
type sharing uint8

const (
	// sharedHost means different targets on one host, and sharedName targets on different hosts. 0 means one target.
	sharedHost sharing = iota + 1
	sharedName
)

// newLinks examines all links that a layout shows.
func newLinks(l *layout) links {
	d := links{shared: map[linkName]sharing{}, printed: map[linkPlace]*dom.Element{}}
	places := map[linkName]string{}
	for i, e := range l.shown {
		if e == nil || e.Href == "" {
			continue
		}
		name := linkName{l.group[i], e.Text}
		place, known := places[name]
		switch {
		case !known:
			places[name] = e.Href
		case place == e.Href:
		case hostOf(place) == hostOf(e.Href):
			d.shared[name] = max(d.shared[name], sharedHost)
		default:
			d.shared[name] = sharedName
		}
	}
	return d
}

// target returns the printed target of a link, or an empty string if its name is sufficient.
func (d *links) target(l *layout, i int) string {
	e := l.shown[i]
	if e.Href == "" {
		return ""
	}
	if l.hrefs {
		return part.Target(l.base.Href(e.Href), 2*part.MaxHref)
	}
	away := l.elsewhere(e.Href)
	shared := d.shared[linkName{l.group[i], e.Text}]
	if l.hasContext(i) { // the link's context distinguishes it from the others
		shared = 0
	}
	if e.Text == "" || shared == sharedHost || shared == sharedName && away == "" {
		return part.Target(l.address(e.Href), part.MaxTarget)
	}
	return part.Target(away, part.MaxTarget)
}

// address returns the distinguishing part of an href: without the scheme, and without the host if that is the page's home.
func (p *Page) address(href string) string {
	short, cut := p.base.Shorten(href)
	if scheme, host, rest := part.SplitURL(short); !cut && scheme != "" {
		if short = strings.TrimPrefix(host, "www.") + rest; p.home != "" && site.Of(host) == p.home {
			short = rest
		}
	}
	if n := utf8.RuneCountInString(short); n > part.MaxTarget {
		tail := []rune(short)[n-part.MaxTarget+1:]
		short, cut = part.Ellipsis+string(tail), false
	}
	if cut {
		short += part.Ellipsis
	}
	return short
}

// elsewhere returns the host of a link's target, or the scheme of a target without a host. It returns an empty string for links within the
// page's site or home.
func (p *Page) elsewhere(href string) string {
	scheme, host, _ := part.SplitURL(href)
	if scheme == "" {
		scheme, _, ok := strings.Cut(href, ":")
		if !ok || strings.EqualFold(scheme, "javascript") || strings.ContainsAny(scheme, "/?#") {
			return ""
		}
		return scheme + ":"
	}
	if host == p.base.Host() {
		return ""
	}
	if s := site.Of(host); s == p.site || s == p.home {
		return ""
	}
	return strings.TrimPrefix(host, "www.")
}

func hostOf(href string) string {
	_, host, _ := part.SplitURL(href)
	return host
}

// refer makes an item a reference if a link of the same name, target and states was already printed, or another element with a long name in
// a table row, because the rows distinguish the two.
func (d *links) refer(m *item, inRow bool) {
	isRepeated := inRow && m.which == "" && utf8.RuneCountInString(m.Text) >= minRepeated
	if m.Href == "" && !isRepeated || m.around != dom.NoRef || len(m.Text)+len(m.target) < minReferred {
		return
	}
	place := linkPlace{m.Text, m.Href}
	first := d.printed[place]
	if first == nil {
		d.printed[place] = m.Element
		return
	}
	if first.Ref != m.Ref && first.Tag == m.Tag && first.Type == m.Type && first.Role == m.Role &&
		first.States == m.States && first.Left == m.Left && first.Hints == m.Hints && first.Covered == m.Covered && first.Value == m.Value && first.ValueLeft == m.ValueLeft {
		m.same = first.Ref
	}
}
