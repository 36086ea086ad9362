package sessionflags

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// EncodeState writes a storage state as JSON with the names of Playwright's storageState. Missing lists are written
// as empty lists, as readers of the format expect.
func EncodeState(state *domtapv1.StorageState) ([]byte, error) {
	raw, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("write the storage state as JSON: %w", err)
	}
	var out bytes.Buffer // protojson varies its white space on purpose; files need stable output
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("write the storage state as JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// DecodeState reads a storage state of EncodeState or Playwright. Unknown fields are ignored.
func DecodeState(raw []byte) (*domtapv1.StorageState, error) {
	state := new(domtapv1.StorageState)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, state); err != nil {
		return nil, fmt.Errorf("not a storage state, which is a JSON object with cookies and origins: %w", err)
	}
	return state, nil
}
