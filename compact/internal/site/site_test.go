package site

import (
	"slices"
	"testing"
)

func TestSiteIsAboutTheRegisteredDomain(t *testing.T) {
	tests := map[string]string{
		"shop.example": "shop.example", "www.shop.example:8080": "shop.example", "a.b.Shop.Example.": "shop.example",
		"news.bbc.co.uk": "bbc.co.uk", "bbc.co.uk": "bbc.co.uk", "x.y.de": "x.y.de", "sub.firm.de": "firm.de",
		"127.0.0.1:80": "127.0.0.1", "[::1]:80": "[::1]", "[::1]": "[::1]", "localhost:80": "localhost", "": "",
	}
	for host, want := range tests {
		if got := Of(host); got != want {
			t.Errorf("Of(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestHomeOfTheLinksOfACopy(t *testing.T) {
	paper, own := slices.Repeat([]string{"www.paper.example"}, 10), slices.Repeat([]string{"shop.example"}, 10)
	tests := []struct {
		what, own string
		hosts     []string
		want      string
	}{
		{"a copy", "archive.example", paper, "paper.example"},
		{"a page with as many links of its own", "shop.example", slices.Concat(paper, own), ""},
		{"the same without a domain", "127.0.0.1", slices.Concat(paper, own, []string{"paper.example"}), "paper.example"},
		{"few links", "127.0.0.1", paper[:9], ""},
		{"a page with links of its own alone", "shop.example", own, ""},
	}
	for _, test := range tests {
		if got := Home(test.own, slices.Values(test.hosts)); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}
