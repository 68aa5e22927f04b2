package main

// Provider is what configurations use of a provider.
type Provider struct {
	Config    *Block            `json:"config"`
	Meta      *Block            `json:"meta"`
	Resources map[string]*Block `json:"resources"`
	Data      map[string]*Block `json:"data"`
}

// Block is what configurations write into blocks of a type, and read from them.
type Block struct {
	// Attributes by name. Their types are dynamic.
	Attributes map[string]*Attribute `json:"attributes"`
	Blocks     map[string]*Block     `json:"blocks"`
}

// Attribute can always be left out.
type Attribute struct {
	// Shape is how expressions read the attribute; nil if none does. One that is read has a value even if it is left out.
	Shape *Shape `json:"shape,omitempty"`
	// IsList: what configurations write is a list, as far as their text says.
	IsList bool `json:"list,omitempty"`
}

// Shape is how expressions read a value.
type Shape struct {
	Members map[string]*Shape `json:"members,omitempty"`
	Element *Shape            `json:"element,omitempty"`
	// Length is the least number of elements that expressions name.
	Length int `json:"length,omitempty"`
	// Format is the function that decodes the value, such as jsondecode; Decoded is how expressions read what it returns.
	Format  string `json:"format,omitempty"`
	Decoded *Shape `json:"decoded,omitempty"`

	// instance: the shape is that of a resource, whose instances are read by index too.
	instance bool
}

func newProvider() *Provider {
	return &Provider{Config: newBlock(), Meta: newBlock(), Resources: map[string]*Block{}, Data: map[string]*Block{}}
}

func newBlock() *Block {
	return &Block{Attributes: map[string]*Attribute{}, Blocks: map[string]*Block{}}
}

func (shape *Shape) member(name string) *Shape {
	if shape == nil {
		return nil
	}
	if shape.Members == nil {
		shape.Members = map[string]*Shape{}
	}
	if shape.Members[name] == nil {
		shape.Members[name] = &Shape{}
	}
	return shape.Members[name]
}

// element is what a loop over the value meets.
func (shape *Shape) element() *Shape {
	if shape == nil || shape.instance {
		return shape
	}
	if shape.Element == nil {
		shape.Element = &Shape{}
	}
	return shape.Element
}

func (shape *Shape) at(index int) *Shape {
	element := shape.element()
	if shape != nil && !shape.instance && shape.Length <= index {
		shape.Length = index + 1
	}
	return element
}
