package action

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	builtininterfaces "vnd/msgs/builtin_interfaces"
	uniqueidentifiermsgs "vnd/msgs/unique_identifier_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
)

// ID names a goal: a UUID.
type ID [16]byte

// NewID is a random UUID (RFC 4122, version 4).
func NewID() (id ID) {
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// String is the ID in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

func (id ID) msg() uniqueidentifiermsgs.UUID { return uniqueidentifiermsgs.UUID{UUID: id} }

// The messages that rosidl derives from an action, of its goal, result and feedback. N is the message whose type gives
// the action's name.
type (
	sendGoalRequest[G any, P ros.Message[G]] struct {
		id   ID
		goal G
	}
	sendGoalResponse[G any, P ros.Message[G]] struct {
		accepted bool
		stamp    builtininterfaces.Time
	}
	getResultRequest[R any, P ros.Message[R]]  struct{ id ID }
	getResultResponse[R any, P ros.Message[R]] struct {
		status Status
		result R
	}
	feedbackMessage[F any, P ros.Message[F]] struct {
		id       ID
		feedback F
	}
)

// baseOf is the action's name: of "example_interfaces/action/Fibonacci_Goal" without the suffix.
func baseOf[T any, P ros.Message[T]](suffix string) string {
	return strings.TrimSuffix(P(new(T)).TypeName(), suffix)
}

// typeOf is the action's type, of the three messages that define it.
func typeOf[G, R, F any, PG ros.Message[G], PR ros.Message[R], PF ros.Message[F]]() (string, error) {
	name := baseOf[G, PG]("_Goal")
	if goal := PG(new(G)).TypeName(); goal != name+"_Goal" || baseOf[R, PR]("_Result") != name ||
		baseOf[F, PF]("_Feedback") != name {
		return "", fmt.Errorf("%s, %s and %s: expected goal, result and feedback of one action", goal,
			PR(new(R)).TypeName(), PF(new(F)).TypeName())
	}
	return name, nil
}

func (id *ID) marshal(e *cdr.Encoder) { m := id.msg(); m.MarshalCDR(e) }

func (id *ID) unmarshal(d *cdr.Decoder) {
	var m uniqueidentifiermsgs.UUID
	m.UnmarshalCDR(d)
	*id = m.UUID
}

func (*sendGoalRequest[G, P]) TypeName() string { return baseOf[G, P]("_Goal") + "_SendGoal_Request" }

func (m *sendGoalRequest[G, P]) MarshalCDR(e *cdr.Encoder) {
	m.id.marshal(e)
	P(&m.goal).MarshalCDR(e)
}

func (m *sendGoalRequest[G, P]) UnmarshalCDR(d *cdr.Decoder) {
	m.id.unmarshal(d)
	P(&m.goal).UnmarshalCDR(d)
}

func (*sendGoalResponse[G, P]) TypeName() string { return baseOf[G, P]("_Goal") + "_SendGoal_Response" }

func (m *sendGoalResponse[G, P]) MarshalCDR(e *cdr.Encoder) {
	e.Bool(m.accepted)
	m.stamp.MarshalCDR(e)
}

func (m *sendGoalResponse[G, P]) UnmarshalCDR(d *cdr.Decoder) {
	m.accepted = d.Bool(m.TypeName() + ".accepted")
	m.stamp.UnmarshalCDR(d)
}

func (*getResultRequest[R, P]) TypeName() string {
	return baseOf[R, P]("_Result") + "_GetResult_Request"
}
func (m *getResultRequest[R, P]) MarshalCDR(e *cdr.Encoder)   { m.id.marshal(e) }
func (m *getResultRequest[R, P]) UnmarshalCDR(d *cdr.Decoder) { m.id.unmarshal(d) }

func (*getResultResponse[R, P]) TypeName() string {
	return baseOf[R, P]("_Result") + "_GetResult_Response"
}

func (m *getResultResponse[R, P]) MarshalCDR(e *cdr.Encoder) {
	e.Int8(int8(m.status))
	P(&m.result).MarshalCDR(e)
}

func (m *getResultResponse[R, P]) UnmarshalCDR(d *cdr.Decoder) {
	m.status = Status(d.Int8(m.TypeName() + ".status"))
	P(&m.result).UnmarshalCDR(d)
}

func (*feedbackMessage[F, P]) TypeName() string {
	return baseOf[F, P]("_Feedback") + "_FeedbackMessage"
}

func (m *feedbackMessage[F, P]) MarshalCDR(e *cdr.Encoder) {
	m.id.marshal(e)
	P(&m.feedback).MarshalCDR(e)
}

func (m *feedbackMessage[F, P]) UnmarshalCDR(d *cdr.Decoder) {
	m.id.unmarshal(d)
	P(&m.feedback).UnmarshalCDR(d)
}
