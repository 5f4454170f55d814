package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// surface lists what a folder's package exports: a line for each function, type, method, field, constant and variable.
// Names of parameters and values are left out, as callers do not depend on them.
func surface(dir string) (all []string, err error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				all = append(all, function(d))
			case *ast.GenDecl:
				for _, s := range d.Specs {
					all = append(all, declaration(d.Tok, s)...)
				}
			}
		}
	}
	return all, nil
}

// function is the line of a function or a method.
func function(d *ast.FuncDecl) string {
	d.Body = nil
	if d.Recv != nil {
		d.Recv.List = unnamed(d.Recv)
	}
	return text(d)
}

// declaration lists a constant, a variable or a type. Each field of a struct has a line, so that more may be added. An
// interface is one line: a method more breaks who implements it.
func declaration(kind token.Token, s ast.Spec) (all []string) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			line := kind.String() + " " + name.Name
			if s.Type != nil {
				line += " " + text(s.Type)
			}
			all = append(all, line)
		}
	case *ast.TypeSpec:
		fields, ok := s.Type.(*ast.StructType)
		if !ok {
			return []string{"type " + text(s)}
		}
		for _, f := range fieldsOf(fields.Fields) {
			all = append(all, fmt.Sprintf("type %s struct, %s", s.Name, f))
		}
		s.Type = &ast.StructType{Fields: &ast.FieldList{}}
		return append(all, "type "+text(s))
	}
	return all
}

// fieldsOf lists the fields of a struct, one by one: name and type, or the type that is embedded.
func fieldsOf(fields *ast.FieldList) (all []string) {
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			all = append(all, "embedded "+text(f.Type))
		}
		for _, name := range f.Names {
			all = append(all, name.Name+" "+text(f.Type))
		}
	}
	return all
}

// text prints a node on one line, its parameters without names.
func text(n ast.Node) string {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{n.Params, n.Results} {
				if list != nil {
					list.List = unnamed(list)
				}
			}
		case *ast.StructType: // no remark on what is not exported
			n.Incomplete = false
		case *ast.InterfaceType:
			n.Incomplete = false
		}
		return true
	})
	var b strings.Builder
	if err := format.Node(&b, token.NewFileSet(), n); err != nil {
		panic(err) // a node that was parsed prints
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// unnamed is a list of parameters by their types alone.
func unnamed(list *ast.FieldList) (all []*ast.Field) {
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			all = append(all, &ast.Field{Type: f.Type})
		}
	}
	return all
}
