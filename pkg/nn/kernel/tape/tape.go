// Package tape computes small scalar functions and their exact gradients for many arguments at once. A Program is a
// list of instructions over registers; each register holds one number for each of Lanes arguments.
package tape

// Lanes is how many arguments a program takes at once.
const Lanes = 32

// Reg names a register of a program. Each is written by one instruction, or is an input.
type Reg int32

// operations of a program: out = f(a, b), with k a constant.
const (
	opAdd   = iota // a + b
	opSub          // a − b
	opMul          // a b
	opScale        // k a
	opShift        // k + a
	opSqrt         // √a
	opInv          // 1/a
	opDot          // Σ θ[p_j] x_j over the b pairs (p_j, x_j) that begin at args[a]
)

// instruction is one line of a program. Its layout is known to tape.h.
type instruction struct {
	op, out, a, b int32
	k             float64
}

// Program is a function of registers and of parameters θ, common to all lanes.
type Program struct {
	code   []instruction
	args   []int32
	regs   int // registers, the inputs first
	inputs int
	params int // of θ
}

// New returns a program that has inputs registers 0 … inputs−1 and no instruction.
func New(inputs int) *Program { return &Program{inputs: inputs, regs: inputs} }

// Registers is how many there are; memory of a run is Registers·Lanes numbers, lanes last.
func (p *Program) Registers() int { return p.regs }

// Params is how many parameters the program has.
func (p *Program) Params() int { return p.params }

func (p *Program) emit(op, a, b int32, k float64) Reg {
	p.code = append(p.code, instruction{op, int32(p.regs), a, b, k})
	p.regs++
	return Reg(p.regs - 1)
}

// Add returns a + b.
func (p *Program) Add(a, b Reg) Reg { return p.emit(opAdd, int32(a), int32(b), 0) }

// Sub returns a − b.
func (p *Program) Sub(a, b Reg) Reg { return p.emit(opSub, int32(a), int32(b), 0) }

// Mul returns a b.
func (p *Program) Mul(a, b Reg) Reg { return p.emit(opMul, int32(a), int32(b), 0) }

// Scale returns k a.
func (p *Program) Scale(k float64, a Reg) Reg { return p.emit(opScale, int32(a), 0, k) }

// Shift returns k + a.
func (p *Program) Shift(k float64, a Reg) Reg { return p.emit(opShift, int32(a), 0, k) }

// Sqrt returns √a, of a > 0.
func (p *Program) Sqrt(a Reg) Reg { return p.emit(opSqrt, int32(a), 0, 0) }

// Inv returns 1/a.
func (p *Program) Inv(a Reg) Reg { return p.emit(opInv, int32(a), 0, 0) }

// Dot returns Σ θ[first+j] x[j] over parameters that follow one another. Those that are not yet there are new.
func (p *Program) Dot(first int, x ...Reg) Reg {
	at := len(p.args)
	for j, r := range x {
		p.args = append(p.args, int32(first+j), int32(r))
	}
	p.params = max(p.params, first+len(x))
	return p.emit(opDot, int32(at), int32(len(x)), 0)
}

// Forward runs the program on memory x[Registers][Lanes], whose inputs are set.
func (p *Program) Forward(theta, x []float64) {
	forward(p.code, p.args, theta[:p.params], x[:p.regs*Lanes])
}

// Backward adds to the inputs' adjoints dx[inputs][Lanes] and to dtheta the pullback of the adjoints in dx of the
// other registers, which it sets to 0. x is the memory that Forward left.
func (p *Program) Backward(theta, x, dx, dtheta []float64) {
	backward(p.code, p.args, theta[:p.params], x[:p.regs*Lanes], dx[:p.regs*Lanes], dtheta[:p.params])
}
