package sessions

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

// stored returns a state with a database that has the given stores. Without stores, the version of the database is invalid.
func stored(stores ...*domtapv1.ObjectStore) *domtapv1.SetStorageStateRequest {
	d := &domtapv1.IndexedDatabase{Name: "d", Stores: stores}
	if len(stores) > 0 {
		d.Version = 1
	}
	return &domtapv1.SetStorageStateRequest{State: &domtapv1.StorageState{Origins: []*domtapv1.OriginStorage{{Origin: "https://a.test", IndexedDb: []*domtapv1.IndexedDatabase{d}}}}}
}

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		stored(&domtapv1.ObjectStore{AutoIncrement: true, Records: []*domtapv1.StoreRecord{{Value: proto.String("1")}}}),
		&domtapv1.CreateSessionRequest{Settings: &domtapv1.SessionSettings{Block: []string{"ads", "fonts", "media"}}},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{stored(), "state.origins[0].indexed_db[0].version"},
		{stored(&domtapv1.ObjectStore{KeyPath: proto.String("a"), KeyPathArray: []string{"b"}}), "state.origins[0].indexed_db[0].stores[0].key_path"},
		{stored(&domtapv1.ObjectStore{Indexes: []*domtapv1.StoreIndex{{}}}), "state.origins[0].indexed_db[0].stores[0].indexes[0].key_path"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Value: proto.String("1")}}}), "state.origins[0].indexed_db[0].stores[0].records[0].key"},
		{stored(&domtapv1.ObjectStore{KeyPath: proto.String("a"), Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String("1")}}}), "state.origins[0].indexed_db[0].stores[0].records[0].key"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Key: proto.String("1")}}}), "state.origins[0].indexed_db[0].stores[0].records[0].value"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String("{")}}}), "state.origins[0].indexed_db[0].stores[0].records[0]"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String(`"` + strings.Repeat("x", 10<<20) + `"`)}}}), "state.origins"},
		{&domtapv1.CreateSessionRequest{Settings: &domtapv1.SessionSettings{Block: []string{"adz"}}}, "settings.block"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
