package golang

import "testing"

// TestReachable tells the interfaces that a value can meet on purpose from
// those that it meets by chance.
func TestReachable(t *testing.T) {
	for _, c := range []struct {
		path, qualified string
		want            bool
	}{
		{"/go/src/io/io.go", "io.Reader", true},
		{"/go/src/io/io.go", "io.reader", false},
		{"/go/src/internal/reflectlite/type.go", "reflectlite.Type", false},
		{"/mod/golang.org/x/text@v0.43.0/transform/transform.go", "transform.Transformer", true},
		{"/go/src/vendor/golang.org/x/text/transform/transform.go", "transform.Transformer", false},
		{"/go/src/cmd/vendor/golang.org/x/mod/sumdb/client.go", "sumdb.ClientOps", false},
		{"/home/me/src/vendor/github.com/spf13/pflag/flag.go", "pflag.Value", true},
	} {
		if got := reachable(c.path, c.qualified); got != c.want {
			t.Errorf("reachable(%s, %s) = %v", c.path, c.qualified, got)
		}
	}
}
