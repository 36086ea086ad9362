package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Compile parses a schema: a JSON object that maps field names to field descriptions. The error is a *SchemaError.
func Compile(schema []byte) (*Schema, error) {
	switch {
	case len(schema) > MaxSchema:
		return nil, fault("", "has %d bytes: at most %d are allowed", len(schema), MaxSchema)
	case !utf8.Valid(schema):
		return nil, fault("", "is not UTF-8")
	}
	c := &compiler{d: json.NewDecoder(bytes.NewReader(schema))}
	token, err := c.d.Token()
	if err != nil {
		return nil, malformed(err)
	}
	if token != json.Delim('{') {
		return nil, fault("", `must be a JSON object that maps field names to what to read, such as {"title": "h1"}`)
	}
	fields, err := c.fields("", 1)
	if err != nil {
		return nil, err
	}
	if _, err := c.d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault("", "has data after its end: give one JSON object")
	}
	return &Schema{Fields: fields}, nil
}

func malformed(err error) *SchemaError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault("", "is not valid JSON: it ends too early")
	}
	return fault("", "is not valid JSON: %v", err)
}

// compiler parses a schema token by token, which keeps the order of fields and detects duplicates.
type compiler struct {
	d     *json.Decoder
	count int
}

// fields parses the fields of an object after its opening brace.
func (c *compiler) fields(path string, level int) ([]*Field, error) {
	if level > MaxLevels {
		return nil, fault(path, "is nested deeper than %d levels", MaxLevels)
	}
	var out []*Field
	for {
		name, err := c.key()
		if err != nil || name == nil {
			if err == nil && len(out) == 0 {
				err = fault(path, "has no fields: name at least one")
			}
			return out, err
		}
		f := &Field{Name: *name, Path: join(path, *name)}
		if f.Name == "" || len(f.Name) > maxName {
			return nil, fault(f.Path, "has a field name of %d bytes: use 1 to %d", len(f.Name), maxName)
		}
		for _, other := range out {
			if other.Name == f.Name {
				return nil, fault(f.Path, "is duplicated: use each name once")
			}
		}
		if c.count++; c.count > MaxFields {
			return nil, fault(f.Path, "exceeds the limit of %d fields: use fewer", MaxFields)
		}
		if err := c.field(f, level); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
}

// key returns the next key of an object, or nil at its end.
func (c *compiler) key() (*string, error) {
	token, err := c.d.Token()
	if err != nil {
		return nil, malformed(err)
	}
	name, isName := token.(string)
	if !isName {
		return nil, nil
	}
	return &name, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// field parses the description of a field.
func (c *compiler) field(f *Field, level int) error {
	token, err := c.d.Token()
	if err != nil {
		return malformed(err)
	}
	switch v := token.(type) {
	case string:
		return f.short(v)
	case json.Delim:
		if v == '{' {
			return c.object(f, level)
		}
	}
	return fault(f.Path, `must be a CSS selector such as "a.price@href", or an object such as {"selector": "a.price", "type": "number"}`)
}

// shortForm matches a selector followed by the name of an attribute.
var shortForm = lazyregexp.New(`^(?s)(.*)@([A-Za-z_][A-Za-z0-9_:.-]*)$`)

// short parses "selector", "selector@attribute" and "@attribute". A "." selects the element of the row itself.
func (f *Field) short(text string) error {
	selector := text
	if m := shortForm().FindStringSubmatch(text); m != nil {
		selector, f.Attribute = m[1], strings.ToLower(m[2])
	}
	return f.selector(f.Path, selector)
}

func (f *Field) selector(path, selector string) error {
	selector = strings.TrimSpace(selector)
	if len(selector) > MaxSelector {
		return fault(path, "has %d bytes: a selector may have at most %d", len(selector), MaxSelector)
	}
	if strings.ContainsRune(selector, 0) {
		return fault(path, "contains a NUL character: remove it")
	}
	if selector != "." {
		f.Selector = selector
	}
	return nil
}

var typeNames = map[string]Type{"string": String, "number": Number, "boolean": Boolean, "url": URL}

// object parses the long form of a field after its opening brace.
func (c *compiler) object(f *Field, level int) error {
	seen := map[string]bool{}
	for {
		key, err := c.key()
		if err != nil {
			return err
		}
		if key == nil {
			return f.agree(seen)
		}
		path := f.Path + "." + *key
		if seen[*key] {
			return fault(path, "is duplicated: use each name once")
		}
		seen[*key] = true
		if err := c.property(f, *key, path, level); err != nil {
			return err
		}
	}
}

// property parses one property of a field.
func (c *compiler) property(f *Field, key, path string, level int) (err error) {
	if key == "fields" {
		if token, err := c.d.Token(); err != nil {
			return malformed(err)
		} else if token != json.Delim('{') {
			return fault(path, "must be an object that maps field names to what to read")
		}
		f.Fields, err = c.fields(f.Path, level+1)
		return err
	}
	if key == "all" {
		f.All, err = value[bool](c, path, "true or false")
		return err
	}
	var text string
	switch key {
	case "selector", "role", "name", "attribute", "type", "decimal":
		if text, err = value[string](c, path, "a string"); err != nil {
			return err
		}
	default:
		return fault(path, "is unknown: use selector, role, name, attribute, all, type, decimal or fields")
	}
	return f.set(key, path, text)
}

// set sets one textual property.
func (f *Field) set(key, path, text string) error {
	if key != "selector" && (text == "" || len(text) > maxName || strings.ContainsRune(text, 0)) {
		return fault(path, "must have 1 to %d bytes", maxName)
	}
	switch key {
	case "selector":
		return f.selector(path, text)
	case "role":
		f.Role = strings.ToLower(strings.TrimSpace(text))
		if f.Role == "image" {
			f.Role = "img"
		}
	case "name":
		f.RoleName = text
	case "attribute":
		f.Attribute = strings.ToLower(text)
	case "type":
		kind, known := typeNames[text]
		if !known {
			return fault(path, "must be string, number, boolean or url")
		}
		f.Type = kind
	case "decimal":
		if text != "." && text != "," {
			return fault(path, `must be "." or ","`)
		}
		f.Comma = text == ","
	}
	return nil
}

// agree reports properties that exclude each other.
func (f *Field) agree(seen map[string]bool) error {
	switch {
	case seen["selector"] && seen["role"]:
		return fault(f.Path+".role", "must not be set together with selector")
	case !seen["selector"] && !seen["role"] && !seen["attribute"]:
		return fault(f.Path, "must have a selector, a role or an attribute")
	case seen["name"] && !seen["role"]:
		return fault(f.Path+".name", "must be set together with role")
	case seen["decimal"] && f.Type != Number:
		return fault(f.Path+".decimal", `must be set together with "type": "number"`)
	case len(f.Fields) > 0 && (seen["attribute"] || seen["type"]):
		return fault(f.Path, "has fields: move attribute and type to these fields")
	case f.All && f.Selector == "" && f.Role == "":
		return fault(f.Path+".all", "must be set together with selector or role")
	}
	return nil
}

// value parses a value of type T.
func value[T any](c *compiler, path, what string) (T, error) {
	token, err := c.d.Token()
	if err != nil {
		var none T
		return none, malformed(err)
	}
	v, ok := token.(T)
	if !ok {
		return v, fault(path, "must be %s", what)
	}
	return v, nil
}
