package document

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
)

// Limits of tables and XML.
const (
	// maxRows limits the rows of a table that is returned, and maxColumns its columns.
	maxRows    = 5000
	maxColumns = 40
	// maxCell limits the characters of a cell.
	maxCell = 500
	// maxXML is the size in bytes up to which XML is indented.
	maxXML = 16 << 20
	// maxIndent limits the spaces in front of a line of XML or JSON, and maxInline the bytes of text behind a start tag of XML.
	maxIndent = 40
	maxInline = 200
)

// OfCSV returns a table. The first row is its header. The separator is the most frequent of comma, semicolon and tab in the first line.
func OfCSV(data []byte) Content {
	text := decoded(data)
	r := csv.NewReader(strings.NewReader(text))
	first, _, _ := strings.Cut(text, "\n")
	for _, separator := range ";\t" {
		if strings.Count(first, string(separator)) > strings.Count(first, string(r.Comma)) {
			r.Comma = separator
		}
	}
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	var b strings.Builder
	b.WriteString("<table>")
	rows, wide, width := 0, false, 0
	for ; rows <= maxRows; rows++ {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c := Plain(data)
			c.Note = "not read as a table (" + brief(err.Error(), 120) + "): this is its text"
			return c
		}
		if rows == 0 {
			width = min(len(fields), maxColumns)
		}
		wide = wide || len(fields) > max(width, 1)
		writeRow(&b, fields[:min(len(fields), width)], rows == 0)
	}
	b.WriteString("</table>")
	if rows == 0 || width < 2 {
		return Plain(data)
	}
	c := Content{HTML: b.String(), Truncated: rows > maxRows}
	if c.Truncated {
		c.Note = fmt.Sprintf("the first %d rows: the file has more", maxRows)
	} else if wide {
		c.Note = fmt.Sprintf("the first %d columns: some rows have more", width)
	}
	return c
}

func writeRow(b *strings.Builder, cells []string, header bool) {
	tag := "td"
	if header {
		tag = "th"
	}
	b.WriteString("<tr>")
	for _, cell := range cells {
		b.WriteString("<" + tag + ">" + html.EscapeString(brief(cell, maxCell)) + "</" + tag + ">")
	}
	b.WriteString("</tr>")
}

// OfXML returns XML with one element on each line, indented. XML that does not parse is returned as text with a note.
func OfXML(data []byte) Content {
	if len(data) > maxXML {
		c := Plain(data)
		c.Note = "too large to be indented: this is its text"
		return c
	}
	lines, err := indentXML(data)
	if err != nil {
		c := Plain(data)
		c.Note = "not read as XML (" + brief(err.Error(), 120) + "): this is its text"
		return c
	}
	return Content{HTML: "<pre>" + html.EscapeString(strings.Join(lines, "\n")) + "</pre>"}
}

// indentXML returns the lines of indented XML. An element with only text is on one line.
func indentXML(data []byte) (lines []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, open, left := 0, false, 0 // open: the last line is a start tag, perhaps with text, and may get as many bytes of text as are left
	for {
		from := d.InputOffset()
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, fmt.Errorf("parsing XML: %w", err)
		}
		raw := strings.TrimSpace(decoded(data[from:d.InputOffset()]))
		indent := strings.Repeat(" ", min(2*depth, maxIndent))
		switch token.(type) {
		case xml.StartElement:
			lines, open, left = append(lines, indent+raw), !strings.HasSuffix(raw, "/>"), maxInline
			if open {
				depth++
			}
		case xml.EndElement:
			if strings.HasSuffix(raw, "/>") || raw == "" {
				continue // the end of an empty element
			}
			depth = max(0, depth-1)
			if open {
				lines[len(lines)-1] += raw
			} else {
				lines = append(lines, strings.Repeat(" ", min(2*depth, maxIndent))+raw)
			}
			open = false
		default:
			if raw == "" {
				continue
			}
			if _, text := token.(xml.CharData); text && open && len(raw) < left {
				lines[len(lines)-1] += raw
				left -= len(raw)
				continue
			}
			lines, open = append(lines, indent+raw), false
		}
	}
}
