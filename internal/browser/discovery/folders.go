package discovery

import (
	"cmp"
	"strings"
)

// Folder is the profile folder (user data directory) of a browser.
type Folder struct {
	// Name identifies the browser in commands, such as "chrome" or "edge-beta". It is empty for a folder that is not the default of its
	// browser. Browsers that are packaged in several ways share a name.
	Name string
	// Product is the browser's name for people, such as "Google Chrome".
	Product string
	// Scheme is the scheme of the browser's own pages, such as "chrome".
	Scheme string
	Path   string
}

// product is a browser with its folder on each system, relative to where that system keeps profiles.
type product struct {
	name, product, scheme string
	linux, mac, windows   string
}

// products lists the known browsers. An empty folder means that the browser does not exist on that system.
var products = []product{
	{"chrome", "Google Chrome", "chrome", "google-chrome", "Google/Chrome", "Google/Chrome"},
	{"chrome-beta", "Google Chrome Beta", "chrome", "google-chrome-beta", "Google/Chrome Beta", "Google/Chrome Beta"},
	{"chrome-dev", "Google Chrome Dev", "chrome", "google-chrome-unstable", "Google/Chrome Dev", "Google/Chrome Dev"},
	{"chrome-canary", "Google Chrome Canary", "chrome", "google-chrome-canary", "Google/Chrome Canary", "Google/Chrome SxS"},
	{"chromium", "Chromium", "chrome", "chromium", "Chromium", "Chromium"},
	{"edge", "Microsoft Edge", "edge", "microsoft-edge", "Microsoft Edge", "Microsoft/Edge"},
	{"edge-beta", "Microsoft Edge Beta", "edge", "microsoft-edge-beta", "Microsoft Edge Beta", "Microsoft/Edge Beta"},
	{"edge-dev", "Microsoft Edge Dev", "edge", "microsoft-edge-dev", "Microsoft Edge Dev", "Microsoft/Edge Dev"},
	{"edge-canary", "Microsoft Edge Canary", "edge", "", "Microsoft Edge Canary", "Microsoft/Edge SxS"},
	{"brave", "Brave", "brave", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser"},
	{"brave-beta", "Brave Beta", "brave", "BraveSoftware/Brave-Browser-Beta", "BraveSoftware/Brave-Browser-Beta", "BraveSoftware/Brave-Browser-Beta"},
	{"brave-nightly", "Brave Nightly", "brave", "BraveSoftware/Brave-Browser-Nightly", "BraveSoftware/Brave-Browser-Nightly", "BraveSoftware/Brave-Browser-Nightly"},
}

// packaged maps names of products to their folders below the home directory in Flatpak and Snap packages.
var packaged = []struct{ name, folder string }{
	{"chrome", ".var/app/com.google.Chrome/config/google-chrome"},
	{"chromium", ".var/app/org.chromium.Chromium/config/chromium"},
	{"chromium", "snap/chromium/common/chromium"},
	{"edge", ".var/app/com.microsoft.Edge/config/microsoft-edge"},
	{"brave", ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser"},
	{"brave", "snap/brave/current/.config/BraveSoftware/Brave-Browser"},
}

// Folders returns the default profile folders of the known browsers on a system, named as in runtime.GOOS. All systems except Windows and
// macOS are treated as Linux. Home is the user's home directory, and env looks up environment variables.
func Folders(goos, home string, env func(string) string) []Folder {
	separator, root := "/", cmp.Or(env("CHROME_CONFIG_HOME"), env("XDG_CONFIG_HOME"), home+"/.config")
	switch goos {
	case "darwin":
		root = home + "/Library/Application Support"
	case "windows":
		separator, root = `\`, cmp.Or(env("LOCALAPPDATA"), home+`\AppData\Local`)
	}
	path := func(root, folder string) string { return root + separator + strings.ReplaceAll(folder, "/", separator) }
	var all []Folder
	for _, p := range products {
		folder := p.linux
		switch goos {
		case "darwin":
			folder = p.mac
		case "windows":
			folder = p.windows + "/User Data"
		}
		if folder != "" {
			all = append(all, Folder{p.name, p.product, p.scheme, path(root, folder)})
		}
	}
	if goos == "darwin" || goos == "windows" {
		return all
	}
	for _, other := range packaged {
		for _, p := range products {
			if p.name == other.name {
				all = append(all, Folder{p.name, p.product, p.scheme, path(home, other.folder)})
			}
		}
	}
	return all
}
