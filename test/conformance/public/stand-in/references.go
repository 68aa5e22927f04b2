package main

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// scope is what the names of an expression mean, besides those of its module.
type scope struct {
	module *module
	names  map[string]*Shape
	item   *Shape
}

func (s scope) with(name string, shape *Shape) scope {
	names := map[string]*Shape{name: shape}
	for other, known := range s.names {
		if other != name {
			names[other] = known
		}
	}
	return scope{s.module, names, s.item}
}

// read notes what an expression reads, and returns the shape of its value; nil if nothing is known of it.
func (s scope) read(expression hclsyntax.Expression) *Shape {
	switch e := expression.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return s.readTraversal(e.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		return follow(s.read(e.Source), e.Traversal)
	case *hclsyntax.IndexExpr:
		s.read(e.Key)
		return s.read(e.Collection).element()
	case *hclsyntax.SplatExpr:
		inner := s
		inner.item = s.read(e.Source).element()
		return &Shape{Element: inner.read(e.Each)}
	case *hclsyntax.AnonSymbolExpr:
		return s.item
	case *hclsyntax.ForExpr:
		inner := s.with(e.ValVar, s.read(e.CollExpr).element())
		if e.KeyVar != "" {
			inner = inner.with(e.KeyVar, nil)
		}
		for _, part := range []hclsyntax.Expression{e.KeyExpr, e.CondExpr} {
			if part != nil {
				inner.read(part)
			}
		}
		return &Shape{Element: inner.read(e.ValExpr)}
	case *hclsyntax.ConditionalExpr:
		s.read(e.Condition)
		return s.first(e.TrueResult, e.FalseResult)
	case *hclsyntax.ObjectConsExpr:
		object := &Shape{Members: map[string]*Shape{}}
		for _, item := range e.Items {
			s.read(item.KeyExpr)
			value := s.read(item.ValueExpr)
			if key, problems := item.KeyExpr.Value(nil); !problems.HasErrors() && key.Type() == cty.String && value != nil {
				object.Members[key.AsString()] = value
			}
			object.Element = value
		}
		return object
	case *hclsyntax.TupleConsExpr:
		return &Shape{Element: s.first(e.Exprs...)}
	case *hclsyntax.FunctionCallExpr:
		return s.readCall(e)
	case *hclsyntax.ParenthesesExpr:
		return s.read(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return s.read(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		s.first(e.Parts...)
	case *hclsyntax.TemplateJoinExpr:
		s.read(e.Tuple)
	case *hclsyntax.ObjectConsKeyExpr:
		if e.ForceNonLiteral {
			return s.read(e.Wrapped)
		}
	case *hclsyntax.BinaryOpExpr:
		s.first(e.LHS, e.RHS)
	case *hclsyntax.UnaryOpExpr:
		s.read(e.Val)
	}
	return nil
}

func (s scope) first(expressions ...hclsyntax.Expression) *Shape {
	var found *Shape
	for _, each := range expressions {
		if shape := s.read(each); found == nil {
			found = shape
		}
	}
	return found
}

func (s scope) readCall(call *hclsyntax.FunctionCallExpr) *Shape {
	first := s.first(call.Args...)
	switch call.Name {
	case "toset", "tolist", "sort", "distinct", "compact", "concat", "flatten", "setunion", "slice", "reverse", "merge",
		"try", "coalesce", "coalescelist", "nonsensitive", "sensitive", "values":
		return first
	case "element", "one", "lookup":
		return first.element()
	case "jsondecode", "base64decode":
		if first != nil {
			first.Format = call.Name
			if first.Decoded == nil {
				first.Decoded = &Shape{}
			}
			return first.Decoded
		}
	}
	return nil
}

var ownRoots = map[string]bool{"path": true, "count": true, "self": true, "terraform": true, "each": true}

func (s scope) readTraversal(traversal hcl.Traversal) *Shape {
	name := traversal.RootName()
	if shape, ok := s.names[name]; ok {
		return follow(shape, traversal[1:])
	}
	if ownRoots[name] || len(traversal) < 2 {
		if name == "each" && len(traversal) > 1 && attributeName(traversal[1]) == "value" {
			return follow(s.names["each.value"], traversal[2:])
		}
		return nil
	}
	second := attributeName(traversal[1])
	switch name {
	case "local":
		return follow(s.module.readOnce("local."+second, s.module.locals[second], s.module), traversal[2:])
	case "var":
		given := s.module.arguments[second]
		return follow(s.module.readOnce("var."+second, given.value, given.from), traversal[2:])
	case "module":
		return s.readOutput(second, traversal[2:])
	case "data":
		if len(traversal) < 3 {
			return nil
		}
		return follow(s.module.shapeOf("data", second), traversal[3:])
	}
	return follow(s.module.shapeOf("resource", name), traversal[2:])
}

// readOutput passes over the key of an instance of the module.
func (s scope) readOutput(call string, rest hcl.Traversal) *Shape {
	called := s.module.calls[call]
	if called == nil || len(rest) == 0 {
		return nil
	}
	if _, isKey := rest[0].(hcl.TraverseIndex); isKey {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return nil
	}
	name := attributeName(rest[0])
	return follow(called.readOnce("output."+name, called.outputs[name], called), rest[1:])
}

// readOnce returns the shape of a named value of the module, and reads its expression once.
func (m *module) readOnce(name string, expression hclsyntax.Expression, from *module) *Shape {
	if shape, ok := m.known[name]; ok {
		return shape
	}
	m.known[name] = nil
	if expression != nil && from != nil {
		m.known[name] = scope{module: from}.read(expression)
	}
	return m.known[name]
}

// shapeOf returns the shape of the resources of a type. What is read from it becomes part of the provider's schema.
func (m *module) shapeOf(kind, resourceType string) *Shape {
	local, ok := m.chosen[kind+"."+resourceType]
	if !ok {
		local, _, _ = strings.Cut(resourceType, "_")
	}
	return m.reading.shapeOf(m.blockOf(kind, resourceType, local))
}

func (r *reading) shapeOf(block *Block) *Shape {
	if r.shapes[block] == nil {
		r.shapes[block] = &Shape{instance: true}
	}
	return r.shapes[block]
}

func (m *module) blockOf(kind, resourceType, local string) *Block {
	provider := m.providerOf(local)
	blocks := provider.Resources
	if kind == "data" {
		blocks = provider.Data
	}
	if blocks[resourceType] == nil {
		blocks[resourceType] = newBlock()
	}
	return blocks[resourceType]
}

func attributeName(step hcl.Traverser) string {
	if attribute, ok := step.(hcl.TraverseAttr); ok {
		return attribute.Name
	}
	return ""
}

func follow(shape *Shape, steps hcl.Traversal) *Shape {
	for _, step := range steps {
		switch s := step.(type) {
		case hcl.TraverseAttr:
			shape = shape.member(s.Name)
		case hcl.TraverseIndex:
			shape = followIndex(shape, s.Key)
		case hcl.TraverseSplat:
			shape = shape.element()
		}
	}
	return shape
}

func followIndex(shape *Shape, key cty.Value) *Shape {
	if key.Type() == cty.Number {
		index, _ := key.AsBigFloat().Int64()
		return shape.at(int(index))
	}
	if shape != nil && shape.instance {
		return shape
	}
	return shape.member(key.AsString())
}
