package export

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Versions of what is written: the format, and the operators of the ONNX standard.
const (
	irVersion = 8
	opset     = 17
)

// graph is a graph of ONNX under construction. Numbers are float32. Rows of a batch come first, in a dimension "batch".
type graph struct {
	name, doc       string
	inputs, outputs []value
	nodes           []node
	constants       []constant
	metadata        [][2]string
	temporaries     int
}

// value is an input or output of the graph.
type value struct {
	name, doc string
	shape     []int // batch for −1
}

// constant is an initialiser of float32, or of int64 where ints is set.
type constant struct {
	name  string
	shape []int
	data  []float32
	ints  []int64
}

// node is one operator.
type node struct {
	op              string
	inputs, outputs []string
	attributes      []attribute
}

// attribute is an integer, or a list of them.
type attribute struct {
	name string
	i    int64
	list []int64
}

const batch = -1

// temporary is a name that nothing else has.
func (g *graph) temporary() string {
	g.temporaries++
	return fmt.Sprintf("t%d", g.temporaries)
}

// do adds an operator of one output, and returns its name.
func (g *graph) do(op string, inputs []string, attributes ...attribute) string {
	out := g.temporary()
	g.nodes = append(g.nodes, node{op, inputs, []string{out}, attributes})
	return out
}

// set is do for an output of the graph.
func (g *graph) set(out, op string, inputs ...string) {
	g.nodes = append(g.nodes, node{op: op, inputs: inputs, outputs: []string{out}})
}

// keep adds a constant, and returns its name.
func (g *graph) keep(name string, data []float32, shape ...int) string {
	g.constants = append(g.constants, constant{name: name, shape: shape, data: data})
	return name
}

// number is a constant of one number.
func (g *graph) number(v float64) string {
	name := fmt.Sprintf("c_%g", v)
	for _, c := range g.constants {
		if c.name == name {
			return name
		}
	}
	return g.keep(name, []float32{float32(v)})
}

// Fields of the messages of onnx.proto, by their numbers there.
const (
	modelIR, modelProducer, modelDoc, modelGraph, modelOpset, modelMetadata  = 1, 2, 6, 7, 8, 14
	opsetVersion                                                             = 2
	entryKey, entryValue                                                     = 1, 2
	graphNode, graphName, graphConstant, graphDoc, graphInput, graphOutput   = 1, 2, 5, 10, 11, 12
	nodeInput, nodeOutput, nodeName, nodeOp, nodeAttribute                   = 1, 2, 3, 4, 5
	attributeName, attributeInt, attributeInts, attributeType                = 1, 3, 8, 20
	tensorDims, tensorType, tensorName, tensorRaw                            = 1, 2, 8, 9
	infoName, infoType, infoDoc                                              = 1, 2, 3
	typeTensor, tensorElement, tensorShape, shapeDim, dimValue, dimParameter = 1, 1, 2, 1, 1, 2
)

// Values of its enumerations.
const (
	kindFloat, kindInt64 = 1, 7 // of tensors
	kindInt, kindInts    = 2, 7 // of attributes
)

// message is a message of Protocol Buffers under construction.
type message []byte

func (m *message) number(field protowire.Number, v int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(v))
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, b)
}

func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		m.bytes(field, []byte(s))
	}
}

// encode is the graph as a file of ONNX. The same graph gives the same bytes.
func (g *graph) encode() []byte {
	var body message
	for i := range g.nodes {
		body.bytes(graphNode, g.nodes[i].encode(i))
	}
	body.text(graphName, g.name)
	for i := range g.constants {
		body.bytes(graphConstant, g.constants[i].encode())
	}
	body.text(graphDoc, g.doc)
	for i := range g.inputs {
		body.bytes(graphInput, g.inputs[i].encode())
	}
	for i := range g.outputs {
		body.bytes(graphOutput, g.outputs[i].encode())
	}
	var m, operators message
	m.number(modelIR, irVersion)
	m.text(modelProducer, "vnd")
	m.text(modelDoc, g.doc)
	m.bytes(modelGraph, body)
	operators.number(opsetVersion, opset)
	m.bytes(modelOpset, operators)
	for _, x := range g.metadata {
		var entry message
		entry.text(entryKey, x[0])
		entry.text(entryValue, x[1])
		m.bytes(modelMetadata, entry)
	}
	return m
}

func (n *node) encode(i int) []byte {
	var m message
	for _, x := range n.inputs {
		m.bytes(nodeInput, []byte(x)) // an empty one stands for an input that is left out
	}
	for _, x := range n.outputs {
		m.bytes(nodeOutput, []byte(x))
	}
	m.text(nodeName, fmt.Sprintf("%s_%d", n.op, i))
	m.text(nodeOp, n.op)
	for _, a := range n.attributes {
		var x message
		x.text(attributeName, a.name)
		if a.list == nil {
			x.number(attributeInt, a.i)
			x.number(attributeType, kindInt)
		} else {
			for _, v := range a.list {
				x.number(attributeInts, v)
			}
			x.number(attributeType, kindInts)
		}
		m.bytes(nodeAttribute, x)
	}
	return m
}

func (c *constant) encode() []byte {
	var m message
	for _, d := range c.shape {
		m.number(tensorDims, int64(d))
	}
	kind, raw := int64(kindFloat), make([]byte, 0, 4*len(c.data)+8*len(c.ints))
	for _, v := range c.data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	for _, v := range c.ints {
		kind, raw = kindInt64, binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	m.number(tensorType, kind)
	m.text(tensorName, c.name)
	m.bytes(tensorRaw, raw)
	return m
}

func (v *value) encode() []byte {
	var shape, tensor, kind, m message
	for _, d := range v.shape {
		var dim message
		if d == batch {
			dim.text(dimParameter, "batch")
		} else {
			dim.number(dimValue, int64(d))
		}
		shape.bytes(shapeDim, dim)
	}
	tensor.number(tensorElement, kindFloat)
	tensor.bytes(tensorShape, shape)
	kind.bytes(typeTensor, tensor)
	m.text(infoName, v.name)
	m.bytes(infoType, kind)
	m.text(infoDoc, v.doc)
	return m
}
