package main

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Arguments and blocks that the tool reads itself.
var own = map[string]map[string]bool{
	"resource": set("count", "for_each", "provider", "depends_on", "lifecycle", "connection", "provisioner"),
	"data":     set("count", "for_each", "provider", "depends_on", "lifecycle"),
	"provider": set("alias", "version"),
	"module":   set("source", "version", "providers", "depends_on"),
}

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// noteUses notes what a module and those that it calls use of providers.
func (m *module) noteUses() {
	s := scope{module: m}
	for _, block := range m.blocks() {
		switch block.Type {
		case "resource", "data":
			m.noteResource(block)
		case "provider":
			s.noteBody(block.Body, m.providerOf(block.Labels[0]).Config, own["provider"])
		case "terraform", "variable", "moved", "removed", "import":
		default:
			s.noteBody(block.Body, newBlock(), nil)
		}
	}
	for _, called := range m.calls {
		called.noteUses()
	}
}

func (m *module) noteResource(block *hclsyntax.Block) {
	resourceType := block.Labels[0]
	local, ok := m.chosen[block.Type+"."+resourceType]
	if !ok {
		local, _, _ = strings.Cut(resourceType, "_")
	}
	s := scope{module: m}
	if each, ok := block.Body.Attributes["for_each"]; ok {
		s = s.with("each.value", s.read(each.Expr).element())
	}
	if count, ok := block.Body.Attributes["count"]; ok {
		s.read(count.Expr)
	}
	m.noteIgnored(block, local)
	if local == "terraform" {
		s.noteBody(block.Body, newBlock(), nil)
		return
	}
	s.noteBody(block.Body, m.blockOf(block.Type, resourceType, local), own[block.Type])
}

// noteIgnored notes the arguments that ignore_changes names.
func (m *module) noteIgnored(block *hclsyntax.Block, local string) {
	for _, inner := range block.Body.Blocks {
		ignored, ok := inner.Body.Attributes["ignore_changes"]
		if inner.Type != "lifecycle" || !ok {
			continue
		}
		list, ok := ignored.Expr.(*hclsyntax.TupleConsExpr)
		if !ok {
			continue
		}
		for _, each := range list.Exprs {
			name := hcl.ExprAsKeyword(each)
			if traversal, ok := each.(*hclsyntax.ScopeTraversalExpr); ok {
				name = traversal.Traversal.RootName()
			}
			into := m.blockOf(block.Type, block.Labels[0], local)
			if name != "" && into.Attributes[name] == nil && into.Blocks[name] == nil {
				into.Attributes[name] = &Attribute{}
			}
		}
	}
}

func (s scope) noteBody(body *hclsyntax.Body, into *Block, left map[string]bool) {
	for name, attribute := range body.Attributes {
		if left[name] {
			continue
		}
		s.read(attribute.Expr)
		if into.Attributes[name] == nil {
			into.Attributes[name] = &Attribute{}
		}
		switch attribute.Expr.(type) {
		case *hclsyntax.TupleConsExpr, *hclsyntax.SplatExpr, *hclsyntax.ForExpr:
			into.Attributes[name].IsList = true
		}
	}
	for _, block := range body.Blocks {
		if left[block.Type] {
			continue
		}
		inner, name, content := s, block.Type, block.Body
		if block.Type == "dynamic" && len(block.Labels) == 1 {
			inner, name, content = s.openDynamic(block)
		}
		if into.Blocks[name] == nil {
			into.Blocks[name] = newBlock()
		}
		inner.noteBody(content, into.Blocks[name], nil)
	}
}

func (s scope) openDynamic(block *hclsyntax.Block) (scope, string, *hclsyntax.Body) {
	name := block.Labels[0]
	iterator := name
	var element *Shape
	if each, ok := block.Body.Attributes["for_each"]; ok {
		element = s.read(each.Expr).element()
	}
	if named, ok := block.Body.Attributes["iterator"]; ok {
		if traversal, ok := named.Expr.(*hclsyntax.ScopeTraversalExpr); ok {
			iterator = traversal.Traversal.RootName()
		}
	}
	shape := &Shape{Members: map[string]*Shape{"value": element, "key": {}}}
	for _, inner := range block.Body.Blocks {
		if inner.Type == "content" {
			return s.with(iterator, shape), name, inner.Body
		}
	}
	return s, name, block.Body
}

// joinShapes makes what expressions read of resources part of their schemas.
func (r *reading) joinShapes() {
	for _, provider := range r.providers {
		for _, blocks := range []map[string]*Block{provider.Resources, provider.Data} {
			for _, block := range blocks {
				join(block, r.shapeOf(block))
				if block.Attributes["id"] == nil && block.Blocks["id"] == nil {
					block.Attributes["id"] = &Attribute{}
				}
				if id := block.Attributes["id"]; id != nil && id.Shape == nil {
					id.Shape = &Shape{}
				}
			}
		}
	}
}

func join(block *Block, shape *Shape) {
	if shape == nil {
		return
	}
	for name, member := range shape.Members {
		if inner, isBlock := block.Blocks[name]; isBlock {
			delete(block.Attributes, name)
			join(inner, member.Element)
			continue
		}
		if block.Attributes[name] == nil {
			block.Attributes[name] = &Attribute{}
		}
		block.Attributes[name].Shape = member
	}
}
