// Package extract extracts data from pages by a schema.
//
// Compile checks a schema, and Plan creates the plan for the page script (67-extract.js of package internal/browser/observer). The script
// returns only strings. Assemble joins the answers of all documents, converts them, and writes JSON. Numbers and booleans are therefore
// parsed here, in the same way for all pages.
//
// Answers of pages are untrusted. The package guarantees that the result always has the form of the schema and a length within the limits.
package extract

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Limits of schemas.
const (
	MaxSchema   = 64 << 10
	MaxFields   = 100
	MaxLevels   = 4
	MaxSelector = 1000
	MaxHeaders  = 50
	maxName     = 200
)

// Limits of results.
const (
	// DefaultRows and MaxRows limit the elements of each field with "all", and the rows of a table.
	DefaultRows = 1000
	MaxRows     = 10_000
	// MaxResult limits the JSON, in bytes.
	MaxResult = 4 << 20
	// maxMissing limits how many paths without a value are listed.
	maxMissing = 1000
)

// Limits of the script in one document.
const (
	// Milliseconds limits the running time of the script. It omits values that it could not read in that time.
	Milliseconds  = 5000
	maxCharacters = 3 << 20
	maxValues     = 400_000
)

// Type is the type that the text of a field is converted to.
type Type uint8

// The types.
const (
	// String keeps the text unchanged.
	String Type = iota
	// Number uses ParseNumber.
	Number
	// Boolean uses ParseBoolean.
	Boolean
	// URL converts the text to an absolute URL.
	URL
)

// Field is one field of a schema.
type Field struct {
	// Name is the key in the result. Path is the path of the field, such as "items.price".
	Name, Path string
	// Selector is a CSS selector. If empty, it selects the element of the row itself. Role, and RoleName if set, replace Selector.
	Selector, Role, RoleName string
	// Attribute is the attribute to read instead of the text.
	Attribute string
	All       bool
	Type      Type
	// Comma reports that numbers have a decimal comma.
	Comma bool
	// Fields holds the fields of each row.
	Fields []*Field
}

// Table selects the table to read.
type Table struct {
	// Headers must all be in the table, in any order and ignoring case.
	Headers []string `json:"headers"`
	// Caption is the caption or accessible name of the table, ignoring case. If empty, any caption matches.
	Caption string `json:"caption"`
}

// Schema describes the data to extract: fields, or a table.
type Schema struct {
	Fields []*Field
	Table  *Table
}

// SchemaError is an error in a schema.
type SchemaError struct {
	// Path is the path of the error, such as `items.fields.price.type`. It is empty for the schema as a whole.
	Path string
	// Problem describes the error and how to correct it.
	Problem string
}

// Error implements error.
func (e *SchemaError) Error() string {
	if e.Path == "" {
		return "the schema " + e.Problem
	}
	return e.Path + ": " + e.Problem
}

func fault(path, format string, args ...any) *SchemaError {
	return &SchemaError{Path: path, Problem: fmt.Sprintf(format, args...)}
}

// Selectors returns a schema that extracts the texts of all elements of each selector, with the selector as the key.
func Selectors(selectors []string) (*Schema, error) {
	s := new(Schema)
	for i, selector := range selectors {
		path := fmt.Sprintf("selectors[%d]", i)
		if strings.TrimSpace(selector) == "" {
			return nil, fault(path, "is empty: give a CSS selector")
		}
		if len(s.Fields) >= MaxFields {
			return nil, fault("selectors", "must have at most %d entries", MaxFields)
		}
		f := &Field{Name: selector, Path: path, All: true}
		if err := f.short(selector); err != nil {
			return nil, err
		}
		for _, other := range s.Fields {
			if other.Name == f.Name {
				return nil, fault(path, "is duplicated: use each selector once")
			}
		}
		s.Fields = append(s.Fields, f)
	}
	return s, nil
}

// OfTable returns the schema of a table.
func OfTable(t Table) (*Schema, error) {
	if len(t.Headers) > MaxHeaders {
		return nil, fault("table.headers", "must have at most %d entries", MaxHeaders)
	}
	for i, h := range t.Headers {
		if strings.TrimSpace(h) == "" || len(h) > maxName {
			return nil, fault(fmt.Sprintf("table.headers[%d]", i), "must have 1 to %d bytes", maxName)
		}
	}
	if len(t.Caption) > maxName {
		return nil, fault("table.caption", "must have at most %d bytes", maxName)
	}
	return &Schema{Table: &t}, nil
}

// planField is a field in the form that the page script reads.
type planField struct {
	Path      string      `json:"path"`
	Selector  string      `json:"selector,omitempty"`
	Role      string      `json:"role,omitempty"`
	Name      string      `json:"name,omitempty"`
	Attribute string      `json:"attribute,omitempty"`
	All       bool        `json:"all,omitempty"`
	URL       bool        `json:"url,omitempty"`
	Fields    []planField `json:"fields,omitempty"`
}

// Plan returns the schema as JSON in the form that the page script reads, without the root.
func (s *Schema) Plan(rows int) []byte {
	plan := struct {
		Fields []planField    `json:"fields,omitempty"`
		Table  *Table         `json:"table,omitempty"`
		Limits map[string]int `json:"limits"`
	}{planOf(s.Fields), s.Table, map[string]int{
		"rows": rows, "characters": maxCharacters, "values": maxValues, "milliseconds": Milliseconds}}
	raw, err := json.Marshal(plan)
	if err != nil {
		panic(err) // marshaling strings and numbers cannot fail
	}
	return raw
}

func planOf(fields []*Field) []planField {
	out := make([]planField, 0, len(fields))
	for _, f := range fields {
		out = append(out, planField{
			Path: f.Path, Selector: f.Selector, Role: f.Role, Name: f.RoleName, Attribute: f.Attribute, All: f.All,
			URL: f.Type == URL, Fields: planOf(f.Fields),
		})
	}
	return out
}
