package sessionflags

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/storage"
	"github.com/domtap/domtap/internal/sessions"
)

// Names of fields in the file. The rest of the file is the JSON form of the message.
const (
	originsField   = "origins"
	databasesField = "indexedDB"
)

// EncodeState encodes a storage state as JSON with the field names of Playwright's storageState. Missing lists are written as empty lists,
// because readers of the format expect them. Records of databases are written as JSON values instead of strings that contain JSON.
func EncodeState(state *domtapv1.StorageState) ([]byte, error) {
	raw, err := encodeState(state)
	if err != nil {
		return nil, fmt.Errorf("write the storage state as JSON: %w", err)
	}
	var out bytes.Buffer // protojson varies its white space on purpose, but files need stable output
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("write the storage state as JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func encodeState(state *domtapv1.StorageState) ([]byte, error) {
	rest, ok := proto.Clone(state).(*domtapv1.StorageState)
	if !ok || rest == nil {
		rest = new(domtapv1.StorageState)
	}
	for _, o := range rest.GetOrigins() {
		o.IndexedDb = nil
	}
	raw, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(rest)
	if err != nil {
		return nil, err
	}
	origins := storage.State(state).Origins
	return eachOrigin(raw, func(i int, fields *object) error {
		databases := origins[i].Databases
		if len(databases) == 0 {
			fields.remove(databasesField)
			return nil
		}
		return fields.set(databasesField, databases)
	})
}

// DecodeState decodes a storage state from EncodeState or Playwright. It ignores unknown fields.
func DecodeState(raw []byte) (*domtapv1.StorageState, error) {
	state, err := decodeState(raw)
	if err != nil {
		return nil, fmt.Errorf("not a storage state, which is a JSON object with cookies and origins: %w", err)
	}
	return state, nil
}

func decodeState(raw []byte) (*domtapv1.StorageState, error) {
	found := map[int][]sessions.Database{}
	rest, err := eachOrigin(raw, func(i int, fields *object) error {
		text := fields.remove(databasesField)
		if text == nil {
			return nil
		}
		var databases []sessions.Database
		if err := json.Unmarshal(text, &databases); err != nil {
			return fmt.Errorf("%s of origin %d: %w", databasesField, i+1, err)
		}
		found[i] = databases
		return nil
	})
	if err != nil {
		return nil, err
	}
	state := new(domtapv1.StorageState)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(rest, state); err != nil {
		return nil, err
	}
	for i, databases := range found {
		only := storage.StorageState(sessions.State{Origins: []sessions.Origin{{Databases: databases}}})
		state.Origins[i].IndexedDb = only.GetOrigins()[0].GetIndexedDb()
	}
	return state, nil
}

// eachOrigin applies change to each origin in a state.
func eachOrigin(raw []byte, change func(i int, fields *object) error) ([]byte, error) {
	var state object
	if err := json.Unmarshal(raw, &state); err != nil {
		return nil, err
	}
	text := state.get(originsField)
	if text == nil {
		return raw, nil
	}
	var origins []object
	if err := json.Unmarshal(text, &origins); err != nil {
		return nil, fmt.Errorf("%s: %w", originsField, err)
	}
	for i := range origins {
		if err := change(i, &origins[i]); err != nil {
			return nil, err
		}
	}
	if err := state.set(originsField, origins); err != nil {
		return nil, err
	}
	return json.Marshal(state)
}

// object is a JSON object that keeps the order of its fields.
type object struct {
	names  []string
	fields map[string]json.RawMessage
}

func (o *object) get(name string) json.RawMessage { return o.fields[name] }

func (o *object) set(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if _, known := o.fields[name]; !known {
		o.names = append(o.names, name)
	}
	o.fields[name] = text
	return nil
}

// remove removes a field and returns its value, or nil if it does not exist.
func (o *object) remove(name string) json.RawMessage {
	text := o.fields[name]
	delete(o.fields, name)
	return text
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(raw []byte) error {
	o.fields = map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &o.fields); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return nil // end of the object, parsed before
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth == 1 {
				o.names = append(o.names, t)
				var value json.RawMessage
				if err := d.Decode(&value); err != nil {
					return err
				}
			}
		}
	}
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, name := range o.names {
		value, known := o.fields[name]
		if !known {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out.Write(append(append(key, ':'), value...))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
