package emulate

import (
	"strings"

	"github.com/chromedp/cdproto/emulation"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// named holds the settings that determine the browser's reported name.
type named struct{ userAgent, locale string }

func (o Overrides) agent() named { return named{o.look.UserAgent, o.look.Locale} }

// agentOverride returns the identity that navigator and the request headers report. Empty fields keep the browser's own values.
func (o Overrides) agentOverride() emulation.SetUserAgentOverrideParams {
	ua := o.userAgent()
	p := emulation.SetUserAgentOverrideParams{UserAgent: ua, AcceptLanguage: languages(o.look.Locale)}
	if ua != "" {
		p.Platform, p.UserAgentMetadata = platform(ua), metadata(ua)
	}
	return p
}

// userAgent returns the user agent with the browser's version filled in. As in real user agents, only the major version is set.
func (o Overrides) userAgent() string {
	major, _, _ := strings.Cut(o.version, ".")
	return strings.ReplaceAll(o.look.UserAgent, "{chrome}", major+".0.0.0")
}

// languages returns a locale followed by its language, as browsers do: de-CH,de.
func languages(locale string) string {
	if language, _, found := strings.Cut(locale, "-"); found {
		return locale + "," + language
	}
	return locale
}

// platform returns the navigator.platform for a user agent.
func platform(ua string) string {
	for _, known := range []struct{ word, platform string }{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Linux armv81"}, {"Windows", "Win32"}, {"Macintosh", "MacIntel"},
		{"CrOS", "Linux x86_64"}, {"Linux", "Linux x86_64"},
	} {
		if strings.Contains(ua, known.word) {
			return known.platform
		}
	}
	return ""
}

var (
	chromeVersion  = lazyregexp.New(`Chrome/((\d+)[\d.]*)`)
	edgeVersion    = lazyregexp.New(`Edg/((\d+)[\d.]*)`)
	androidVersion = lazyregexp.New(`Android (\d+)[\d.]*(?:; ([^;)]+?))?(?: Build/[^)]*)?\)`)
	macVersion     = lazyregexp.New(`Mac OS X (\d+)[._](\d+)(?:[._](\d+))?`)
)

// metadata returns the client hints for a user agent. It returns nil for browsers that send none, such as Safari and Firefox.
func metadata(ua string) *emulation.UserAgentMetadata {
	chrome := chromeVersion().FindStringSubmatch(ua)
	if chrome == nil || strings.Contains(ua, "OPR/") {
		return nil
	}
	brand, version := "Google Chrome", chrome
	if edge := edgeVersion().FindStringSubmatch(ua); edge != nil {
		brand, version = "Microsoft Edge", edge
	}
	m := &emulation.UserAgentMetadata{
		Brands:          brands(chrome[2], brand, version[2], "8"),
		FullVersionList: brands(chrome[1], brand, version[1], "8.0.0.0"),
		Mobile:          strings.Contains(ua, "Mobile"), Architecture: "x86", Bitness: "64", FormFactors: []string{"Desktop"},
	}
	switch android, mac := androidVersion().FindStringSubmatch(ua), macVersion().FindStringSubmatch(ua); {
	case android != nil:
		m.Platform, m.PlatformVersion, m.Model = "Android", android[1]+".0.0", android[2]
		m.Architecture, m.Bitness, m.FormFactors = "", "", []string{"Mobile"}
		if !m.Mobile {
			m.FormFactors = []string{"Tablet"}
		}
	case mac != nil:
		m.Platform, m.PlatformVersion = "macOS", mac[1]+"."+mac[2]+"."+max(mac[3], "0")
	case strings.Contains(ua, "Windows"):
		m.Platform, m.PlatformVersion = "Windows", "10.0.0"
	case strings.Contains(ua, "CrOS"):
		m.Platform = "Chrome OS"
	default:
		m.Platform = "Linux"
	}
	return m
}

func brands(chromium, brand, version, grease string) []*emulation.UserAgentBrandVersion {
	return []*emulation.UserAgentBrandVersion{
		{Brand: "Not:A-Brand", Version: grease}, {Brand: "Chromium", Version: chromium}, {Brand: brand, Version: version}}
}
