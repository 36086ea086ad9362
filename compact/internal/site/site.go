// Package site determines which hosts belong to the same site. It has no list of public suffixes, so its results are only suitable for
// deciding what to print, and not for security decisions.
package site

import (
	"iter"
	"strings"
)

// minHome is the minimum number of links to another site before it counts as their home.
const minHome = 10

// Of returns the approximate registered domain of a host: the last two labels, or the last three if the second to last is short, as in
// co.uk. Addresses and names without dots are returned unchanged. The host may have a port.
func Of(host string) string {
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

// Home returns the site that the links of a copied page lead to, given the page's own site and the hosts of its links. This is the site
// that most external links lead to, if those are the majority of all links, or if the page is served without a domain, as from a disk or a
// test server. It returns an empty string if there is none.
func Home(own string, hosts iter.Seq[string]) string {
	best, links, sites := "", 0, map[string]int{}
	for host := range hosts {
		links++
		if site := Of(host); site != own {
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

// isDomain reports whether a site is a domain, and not an address or the name of a machine.
func isDomain(site string) bool {
	last := strings.LastIndexByte(site, '.')
	return last > 0 && last+1 < len(site) && (site[last+1] < '0' || site[last+1] > '9')
}
