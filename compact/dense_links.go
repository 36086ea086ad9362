package compact

import (
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
)

const (
	// minReferred is how long name and target must be at least for a reference to be shorter, in bytes.
	minReferred = 12
	// maxTarget is how much of an address is printed, in characters, unless all addresses are.
	maxTarget = 32
	// minHome is how many links must lead to one other site before it counts as the links' home.
	minHome = 10
)

// denseLinks decides which links say where they lead, and which are printed as the same as another one.
type denseLinks struct {
	// shared has the names that links of one group have in common, although they lead to different places.
	shared map[linkName]sharing
	// printed has the first link to each place under each name.
	printed map[linkPlace]*dom.Element
}

type linkName struct {
	group int32
	name  string
}

type linkPlace struct{ name, href string }

// sharing is what links of one name have in common.
type sharing uint8

const (
	// sharedHost: they lead to different places on one host; sharedName: to different hosts. 0: to one place.
	sharedHost sharing = iota + 1
	sharedName
)

// newDenseLinks looks at all links that a layout shows.
func newDenseLinks(l *denseLayout) denseLinks {
	d := denseLinks{shared: map[linkName]sharing{}, printed: map[linkPlace]*dom.Element{}}
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

// target returns where a link leads, as it is printed; empty when its name says enough.
func (d *denseLinks) target(l *denseLayout, i int) string {
	e := l.shown[i]
	if e.Href == "" {
		return ""
	}
	if l.hrefs {
		return printedTarget(l.base.Href(e.Href), 2*maxHref)
	}
	away := l.elsewhere(e.Href)
	switch sharing := d.shared[linkName{l.group[i], e.Text}]; {
	case e.Text == "" || sharing == sharedHost || sharing == sharedName && away == "":
		return printedTarget(l.address(e.Href), maxTarget)
	}
	return printedTarget(away, maxTarget)
}

// address returns the part of an href that tells it from others: without the scheme, and without the
// host where that goes without saying.
func (p *DensePage) address(href string) string {
	short, cut := p.base.shorten(href)
	if scheme, host, rest := splitURL(short); !cut && scheme != "" {
		if short = strings.TrimPrefix(host, "www.") + rest; p.home != "" && siteOf(host) == p.home {
			short = rest
		}
	}
	if n := utf8.RuneCountInString(short); n > maxTarget {
		tail := []rune(short)[n-maxTarget+1:]
		short, cut = ellipsis+string(tail), false
	}
	if cut {
		short += ellipsis
	}
	return short
}

// elsewhere returns the host that a link leads to, or the scheme of one that leads to no host; empty for
// links within the page's site or the home of its links.
func (p *DensePage) elsewhere(href string) string {
	scheme, host, _ := splitURL(href)
	if scheme == "" {
		scheme, _, ok := strings.Cut(href, ":")
		if !ok || strings.EqualFold(scheme, "javascript") || strings.ContainsAny(scheme, "/?#") {
			return ""
		}
		return scheme + ":"
	}
	if host == p.base.host {
		return ""
	}
	if site := siteOf(host); site == p.site || site == p.home {
		return ""
	}
	return strings.TrimPrefix(host, "www.")
}

// homeOf returns the site that the links of a copy of a page lead to: the site that most links lead to
// which leave the page's own, if that is most links of the page, or if the page is served without a domain,
// as from a disk or a test server. Empty: there is none.
func homeOf(own string, nodes []denseNode) string {
	best, links, sites := "", 0, map[string]int{}
	for i := range nodes {
		scheme, host, _ := splitURL(nodes[i].Href)
		if scheme == "" {
			continue
		}
		links++
		if site := siteOf(host); site != own {
			if sites[site]++; sites[site] > sites[best] {
				best = site
			}
		}
	}
	if sites[best] < minHome || isDomain(own) && 2*sites[best] <= links {
		return ""
	}
	return best
}

// isDomain reports whether a site is a domain, and neither an address nor the name of a machine.
func isDomain(site string) bool {
	last := strings.LastIndexByte(site, '.')
	return last > 0 && last+1 < len(site) && (site[last+1] < '0' || site[last+1] > '9')
}

func hostOf(href string) string {
	_, host, _ := splitURL(href)
	return host
}

// siteOf returns about the domain that was registered: the last two labels of a host, or the last three
// where the last but one is as short as in co.uk. Addresses and names without dots are sites as they are.
func siteOf(host string) string {
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:colon]
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if strings.HasPrefix(host, "[") || last == "" || '0' <= last[0] && last[0] <= '9' {
		return host
	}
	n := 2
	if len(labels) > 2 && len(last) == 2 && len(labels[len(labels)-2]) <= 3 {
		n = 3
	}
	return strings.Join(labels[max(0, len(labels)-n):], ".")
}

// unspaced writes what a target must not have, since it is one word of a line, as URLs may.
var unspaced = strings.NewReplacer(" ", "%20", "[", "%5B", "]", "%5D", `\`, "%5C")

// printedTarget returns an address as DENSE prints it: one word, in which nothing looks like a ref.
func printedTarget(address string, limit int) string {
	return unspaced.Replace(string(appendClean(nil, address, limit)))
}

// refer makes an item a reference when a link of the same name, target and states was printed before.
func (d *denseLinks) refer(m *denseItem) {
	if m.Href == "" || m.around != dom.NoRef || len(m.Text)+len(m.target) < minReferred {
		return
	}
	place := linkPlace{m.Text, m.Href}
	first := d.printed[place]
	if first == nil {
		d.printed[place] = m.Element
		return
	}
	if first.Ref != m.Ref && first.Tag == m.Tag && first.Type == m.Type && first.Role == m.Role &&
		first.States == m.States && first.Covered == m.Covered && first.Value == m.Value {
		m.same = first.Ref
	}
}
