// Package extract extracts data from pages by a schema.
//
// Compile checks a schema, and Plan makes the plan for the page script (67-extract.js of package
// internal/browser/observer). The script answers with strings only; Assemble joins the answers of all documents,
// converts them, and writes JSON. So numbers and booleans are parsed here, for all pages alike.
//
// The package guarantees that the result has the form of the schema and a length within the limits, whatever a page
// sends: answers of pages are untrusted.
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
	// DefaultRows and MaxRows bound the elements of each field with "all", and the rows of a table.
	DefaultRows = 1000
	MaxRows     = 10_000
	// MaxResult bounds the JSON, in bytes.
	MaxResult = 4 << 20
	// maxMissing bounds how many paths without a value are listed.
	maxMissing = 1000
)

// The limits of the script in one document.
const (
	// Milliseconds is how long the script may work. Values that are not read by then are left out.
	Milliseconds  = 5000
	maxCharacters = 3 << 20
	maxValues     = 400_000
)

// Type is the type that the text of a field is converted to.
type Type uint8

// The types.
const (
	// String: the text as it is.
	String Type = iota
	// Number: see ParseNumber.
	Number
	// Boolean: see ParseBoolean.
	Boolean
	// URL: an absolute URL.
	URL
)

// Field is one field of a schema.
type Field struct {
	// Name is the key in the result, and Path leads to the field, such as "items.price".
	Name, Path string
	// Selector is CSS, or empty for the element of the row itself. Role, and RoleName if set, replace Selector.
	Selector, Role, RoleName string
	// Attribute is the attribute to read in place of the text.
	Attribute string
	All       bool
	Type      Type
	// Comma says that numbers have a decimal comma.
	Comma bool
	// Fields are the fields of each row.
	Fields []*Field
}

// Table says which table to read.
type Table struct {
	// Headers must all be there, in any order, without regard to case.
	Headers []string `json:"headers"`
	// Caption is the caption or accessible name of the table, without regard to case; empty: any.
	Caption string `json:"caption"`
}

// Schema says what to extract: fields, or a table.
type Schema struct {
	Fields []*Field
	Table  *Table
}

// SchemaError is an error in a schema.
type SchemaError struct {
	// Path leads to the error, such as `items.fields.price.type`; empty: the schema as a whole.
	Path string
	// Problem says what is wrong and how to correct it.
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

// Selectors makes the schema for the texts of all elements of each selector, under the selector.
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

// OfTable makes the schema of a table.
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

// planField is a field in the form that the script reads.
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

// Plan is the schema as JSON, in the form that the script reads, without the root.
func (s *Schema) Plan(rows int) []byte {
	plan := struct {
		Fields []planField    `json:"fields,omitempty"`
		Table  *Table         `json:"table,omitempty"`
		Limits map[string]int `json:"limits"`
	}{planOf(s.Fields), s.Table, map[string]int{
		"rows": rows, "characters": maxCharacters, "values": maxValues, "milliseconds": Milliseconds}}
	raw, err := json.Marshal(plan)
	if err != nil {
		panic(err) // strings and numbers
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
