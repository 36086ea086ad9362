// Package document converts documents that are not HTML pages to HTML for package markdown: PDFs, JSON, XML, tables of comma-separated
// values, and plain text.
//
// The input is untrusted. Time and memory are bounded by the sizes that each function documents, and bad input never panics: a document
// that does not parse is shown as text, with a note. The output escapes all text of the document. The same input gives the same output.
package document

import (
	"bytes"
	"html"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the kind of a document.
type Kind uint8

// The kinds of documents.
const (
	// Page is an HTML page that a tab shows.
	Page Kind = iota
	PDF
	JSON
	XML
	CSV
	Text
	Image
	// HTML is an HTML file.
	HTML
	// Other is a document without text that can be read.
	Other
)

// Content is the readable content of a document.
type Content struct {
	// HTML is the content for package markdown.
	HTML string
	// Note describes what the content lacks and what to do about it. It is empty for complete content.
	Note string
	// Truncated reports that HTML is only a part of the document.
	Truncated bool
	// Pages is the number of pages of a PDF.
	Pages int
}

// OfType returns the kind of a document that a tab shows, by its media type. Types that browsers show as pages are Page.
func OfType(mediaType, name string) Kind {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch t = strings.TrimSpace(t); {
	case t == "" || t == "text/html" || t == "application/xhtml+xml" || t == "image/svg+xml":
		return Page
	case t == "application/pdf" || t == "application/x-google-chrome-pdf":
		return PDF
	case t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json"):
		return JSON
	case t == "application/xml" || t == "text/xml" || strings.HasSuffix(t, "+xml"):
		return XML
	case t == "text/csv" || t == "text/tab-separated-values":
		return CSV
	case t == "text/plain" && ofName(name) != Other:
		return ofName(name)
	case strings.HasPrefix(t, "text/") || t == "application/javascript":
		return Text
	case strings.HasPrefix(t, "image/"):
		return Image
	}
	return Other
}

// Sniff returns the kind and the media type of a file, by its content and then by its name. sniffed is the result of
// http.DetectContentType.
func Sniff(name, sniffed string, data []byte) (Kind, string) {
	start := bytes.TrimLeft(data[:min(len(data), 1024)], "\ufeff \t\r\n")
	if bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) {
		return PDF, "application/pdf"
	}
	sniffed, _, _ = strings.Cut(sniffed, ";")
	named := ofName(name)
	switch isText := strings.HasPrefix(sniffed, "text/"); {
	case strings.HasPrefix(sniffed, "image/"):
		return Image, sniffed
	case !isText:
		return Other, sniffed
	case named == JSON || named == Other && len(start) > 0 && (start[0] == '{' || start[0] == '[') && IsJSON(data):
		return JSON, "application/json"
	case named == CSV:
		return CSV, "text/csv"
	case sniffed == "text/html":
		return HTML, sniffed
	case named == XML || sniffed == "text/xml":
		return XML, "text/xml"
	}
	return Text, sniffed
}

// ofName returns the kind of text that the extension of a name promises, or Other.
func ofName(name string) Kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".geojson", ".ndjson", ".webmanifest":
		return JSON
	case ".xml", ".rss", ".atom":
		return XML
	case ".csv", ".tsv":
		return CSV
	}
	return Other
}

// Plain returns text as it is.
func Plain(data []byte) Content {
	return Content{HTML: "<pre>" + html.EscapeString(decoded(data)) + "</pre>"}
}

// decoded returns text as UTF-8. Text in UTF-16 must have a byte order mark. Other text that is not UTF-8 is read as Latin-1.
func decoded(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		little, units := data[0] == 0xff, make([]uint16, 0, len(data)/2)
		for i := 2; i+1 < len(data); i += 2 {
			low, high := data[i], data[i+1]
			if !little {
				low, high = high, low
			}
			units = append(units, uint16(low)|uint16(high)<<8)
		}
		return string(utf16.Decode(units))
	}
	if utf8.Valid(data) {
		return string(data)
	}
	text := make([]byte, 0, len(data)+len(data)/8)
	for _, b := range data {
		text = utf8.AppendRune(text, rune(b))
	}
	return string(text)
}

// String returns the name of the kind in a message.
func (k Kind) String() string {
	names := [...]string{"an HTML page", "a PDF", "JSON", "XML", "a table (CSV)", "plain text", "an image", "an HTML file", "a file of another type"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}
