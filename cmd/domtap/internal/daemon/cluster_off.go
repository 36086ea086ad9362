//go:build !cluster

package daemon

import (
	"context"
	"errors"
)

// openCluster returns an error, because this program was built without cluster support.
func openCluster(context.Context, Config) (clusterNode, error) {
	return nil, errors.New("this program was built without clusters: go build -tags cluster ./cmd/domtap")
}
