package dense

import (
	"strings"
	"unicode"
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

// maxHost is the maximum length in bytes of a host that is printed in full.
const maxHost = 16

// maxTail is the number of characters printed of the end of a long address.
const maxTail = 15

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
	// sharedHost means different targets on one host, sharedName targets on different hosts, and sharedSite targets on different hosts that
	// are printed alike, because they belong to one site. 0 means one target.
	sharedHost sharing = iota + 1
	sharedName
	sharedSite
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
		case l.elsewhere(place) == l.elsewhere(e.Href):
			d.shared[name] = sharedSite
		default:
			d.shared[name] = max(d.shared[name], sharedName)
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
	away, shared := l.elsewhere(e.Href), d.shared[linkName{l.group[i], e.Text}]
	isNameless := e.Text == "" && e.Hints == ""
	switch told := l.hasContext(i); {
	case !told && (isNameless || shared == sharedHost || shared > sharedHost && away == ""): // only the target distinguishes the link
		return part.Target(l.address(e.Href), part.MaxTarget)
	case !told && shared == sharedSite: // only the host does
		return part.Target(strings.TrimPrefix(hostOf(e.Href), "www."), part.MaxTarget)
	case (told || shared == 0) && names(e.Text, away):
		return named
	}
	return part.Target(away, part.MaxTarget)
}

// named stands for a target on another site whose name is in the link's words, as in "Follow us on Facebook" for facebook.com.
const named = "→"

// minName is the minimum length in bytes of the name of a site that words may say. Shorter ones, such as news, are ordinary words.
const minName = 5

// names reports whether the words of a text, one or several in a row, are the name of a host's site without its top-level domain.
func names(text, host string) bool {
	name, _, ok := strings.Cut(site.Of(host), ".")
	if !ok || len(name) < minName {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := range words {
		for rest, j := name, i; j < len(words); j++ {
			if rest, ok = strings.CutPrefix(rest, words[j]); !ok {
				break
			}
			if rest == "" {
				return true
			}
		}
	}
	return false
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
		tail := []rune(short)[n-maxTail:]
		short, cut = part.Ellipsis+string(tail), false
	}
	if cut {
		short += part.Ellipsis
	}
	return short
}

// elsewhere returns the host of a link's target, its site if the host is long, or the scheme of a target without a host. It returns an empty
// string for links within the page's site or home.
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
	s := site.Of(host)
	if s == p.site || s == p.home {
		return ""
	}
	if host = strings.TrimPrefix(host, "www."); len(host) > maxHost {
		return s
	}
	return host
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
