package sessions

// State is what makes a session logged in.
type State struct {
	Cookies []Cookie
	Origins []Origin
}

// Cookie is one cookie.
type Cookie struct {
	Name, Value string
	// Domain begins with a dot when the cookie is for subdomains too.
	Domain, Path string
	// Expires is in seconds since 1970; 0 or less: the cookie ends with the session.
	Expires          float64
	HTTPOnly, Secure bool
	// SameSite is Strict, Lax, None or empty.
	SameSite string
}

// Origin is the local storage of one origin, such as https://example.com.
type Origin struct {
	Origin  string
	Entries []Entry
}

// Entry is one entry of local storage.
type Entry struct{ Name, Value string }

// MaxStateBytes is how many bytes of names and values the local storage of a State has at most.
const MaxStateBytes = 10 << 20
