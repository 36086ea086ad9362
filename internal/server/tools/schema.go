package tools

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/truncate"
)

// checkInput checks an input against the schema of a tool. It fails with an *apierr.Error of kind Invalid.
//
// The page wrote the schema. A schema that refers to itself could make the check endless, so schemas with references, and schemas that are
// no valid JSON Schema, check nothing. Neither do those that are nested too deeply.
func checkInput(tool driver.Tool, input string) error {
	var schema jsonschema.Schema
	if tool.Schema == "" || nesting(tool.Schema) > maxNesting || json.Unmarshal([]byte(tool.Schema), &schema) != nil || refers(&schema) {
		return nil
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil
	}
	var instance any
	if err := json.Unmarshal([]byte(input), &instance); err != nil {
		return invalid(tool.Name, err)
	}
	if err := resolved.Validate(instance); err != nil {
		return invalid(tool.Name, err)
	}
	return nil
}

// maxNesting limits the nesting of the objects and arrays of a schema. The time to decode a schema grows with the square of its nesting, and
// is seconds for what fits into driver.MaxToolSchema.
const maxNesting = 100

// nesting returns how deeply the objects and arrays of a JSON text are nested, up to its first error.
func nesting(text string) (most int) {
	d := json.NewDecoder(strings.NewReader(text))
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return most
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			most = max(most, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// refers reports whether a schema has references. It looks at the decoded schema, because keys match regardless of case.
func refers(schema *jsonschema.Schema) bool {
	written, err := json.Marshal(schema)
	return err != nil || bytes.Contains(written, []byte(`"$ref"`)) || bytes.Contains(written, []byte(`"$dynamicRef"`))
}

// path matches the parts of an error of the schema library that lead to a property.
var path = lazyregexp.New(`validating (?:root|/properties/)([^: ]*): `)

// invalid returns the error for an input that does not match a tool's schema. It names the property.
func invalid(tool string, err error) error {
	why := path().ReplaceAllStringFunc(err.Error(), func(part string) string {
		if name := path().FindStringSubmatch(part)[1]; name != "" {
			return name + ": "
		}
		return ""
	})
	e := apierr.Errorf(apierr.Invalid, "input_json: does not match the schema of tool %q: %s", tool, truncate.Runes(why, maxReason))
	e.Field = "input_json"
	return e
}

// maxReason limits the reason why an input was rejected, in characters.
const maxReason = 300
