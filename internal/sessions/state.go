package sessions

// State is the storage state of a session: what makes it logged in.
type State struct {
	Cookies []Cookie
	Origins []Origin
}

// Cookie is one cookie.
type Cookie struct {
	Name, Value string
	// Domain begins with a dot when the cookie is valid for subdomains too.
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

// MaxStateBytes is the limit on the bytes of names and values in the local storage of a State.
const MaxStateBytes = 10 << 20
