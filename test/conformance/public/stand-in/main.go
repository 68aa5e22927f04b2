// A provider that stands in for others: it has the resources that configurations name, and makes nothing anywhere.
//
// `stand-in lay <mirror> <root module>...` reads configurations, and lays a filesystem mirror of every provider that they
// name. In the mirror, the program is a provider: the file schema.json beside it says of which resources.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(given []string) error {
	if len(given) > 2 && given[0] == "lay" {
		return layMirror(given[1], given[2:])
	}
	schema, err := readSchema()
	if err != nil {
		return err
	}
	return tf5server.Serve("registry.terraform.io/conformance/stand-in", func() tfprotov5.ProviderServer {
		return &provider{schema: schema}
	})
}

const schemaFile = "schema.json"

func readSchema() (*Provider, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(program), schemaFile))
	if err != nil {
		return nil, err
	}
	schema := &Provider{}
	return schema, json.Unmarshal(text, schema)
}
