//go:build !cluster

package daemon

import (
	"context"
	"errors"
)

// openCluster fails: nothing of a cluster is in this program.
func openCluster(context.Context, Config) (clusterNode, error) {
	return nil, errors.New("this program was built without clusters: go build -tags cluster ./cmd/domtap")
}
