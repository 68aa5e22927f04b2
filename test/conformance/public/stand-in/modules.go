package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// module is one call of a module, or the root.
type module struct {
	reading   *reading
	directory string
	bodies    []*hclsyntax.Body
	// sources of providers by local name.
	sources map[string]string
	// chosen are the local names of providers that resources name, by kind and type.
	chosen    map[string]string
	arguments map[string]argument
	locals    map[string]hclsyntax.Expression
	outputs   map[string]hclsyntax.Expression
	calls     map[string]*module
	// known are the shapes of locals, variables and outputs that were read already, or are being read.
	known map[string]*Shape
}

type argument struct {
	value hclsyntax.Expression
	from  *module
}

// reading collects what all configurations use.
type reading struct {
	providers   map[string]*Provider
	constraints map[string][]string
	shapes      map[*Block]*Shape
}

func (r *reading) openModule(directory string, arguments map[string]argument) (*module, error) {
	m := &module{
		reading: r, directory: directory, arguments: arguments,
		sources: map[string]string{}, chosen: map[string]string{}, locals: map[string]hclsyntax.Expression{},
		outputs: map[string]hclsyntax.Expression{}, calls: map[string]*module{}, known: map[string]*Shape{},
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !(strings.HasSuffix(entry.Name(), ".tf") || strings.HasSuffix(entry.Name(), ".tofu")) {
			continue
		}
		path := filepath.Join(directory, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, problems := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
		if problems.HasErrors() {
			return nil, problems
		}
		m.bodies = append(m.bodies, file.Body.(*hclsyntax.Body))
	}
	for _, block := range m.blocks() {
		if err := m.declare(block); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *module) blocks() []*hclsyntax.Block {
	var all []*hclsyntax.Block
	for _, body := range m.bodies {
		all = append(all, body.Blocks...)
	}
	return all
}

func (m *module) declare(block *hclsyntax.Block) error {
	attributes := block.Body.Attributes
	switch block.Type {
	case "terraform":
		for _, inner := range block.Body.Blocks {
			if inner.Type == "required_providers" {
				m.declareProviders(inner)
			}
			if inner.Type == "provider_meta" {
				scope{module: m}.noteBody(inner.Body, m.providerOf(inner.Labels[0]).Meta, nil)
			}
		}
	case "locals":
		for name, attribute := range attributes {
			m.locals[name] = attribute.Expr
		}
	case "output":
		if value, ok := attributes["value"]; ok {
			m.outputs[block.Labels[0]] = value.Expr
		}
	case "resource", "data":
		if chosen, ok := attributes["provider"]; ok {
			if traversal, ok := chosen.Expr.(*hclsyntax.ScopeTraversalExpr); ok {
				m.chosen[block.Type+"."+block.Labels[0]] = traversal.Traversal.RootName()
			}
		}
	case "module":
		return m.declareCall(block)
	}
	return nil
}

func (m *module) declareProviders(block *hclsyntax.Block) {
	for name, attribute := range block.Body.Attributes {
		source, version := "hashicorp/"+name, ""
		if value, _ := attribute.Expr.Value(nil); value.Type() == cty.String {
			version = value.AsString()
		} else if object, ok := attribute.Expr.(*hclsyntax.ObjectConsExpr); ok {
			for _, item := range object.Items {
				key, _ := item.KeyExpr.Value(nil)
				value, problems := item.ValueExpr.Value(nil)
				if problems.HasErrors() || value.Type() != cty.String {
					continue
				}
				switch key.AsString() {
				case "source":
					source = value.AsString()
				case "version":
					version = value.AsString()
				}
			}
		}
		m.sources[name] = source
		if version != "" {
			m.reading.constraints[source] = append(m.reading.constraints[source], version)
		}
		m.reading.provider(source)
	}
}

func (m *module) declareCall(block *hclsyntax.Block) error {
	arguments := map[string]argument{}
	for name, attribute := range block.Body.Attributes {
		arguments[name] = argument{attribute.Expr, m}
	}
	source, ok := block.Body.Attributes["source"]
	if !ok {
		return nil
	}
	value, problems := source.Expr.Value(nil)
	if problems.HasErrors() || !strings.HasPrefix(value.AsString(), ".") {
		return fmt.Errorf("%s calls a module from elsewhere", block.DefRange())
	}
	called, err := m.reading.openModule(filepath.Join(m.directory, value.AsString()), arguments)
	if err == nil {
		m.calls[block.Labels[0]] = called
	}
	return err
}

func (r *reading) provider(source string) *Provider {
	if r.providers[source] == nil {
		r.providers[source] = newProvider()
	}
	return r.providers[source]
}

// providerOf returns the provider of a local name, such as aws or aws.east.
func (m *module) providerOf(name string) *Provider {
	local, _, _ := strings.Cut(name, ".")
	source, ok := m.sources[local]
	if !ok {
		source = "hashicorp/" + local
	}
	return m.reading.provider(source)
}
