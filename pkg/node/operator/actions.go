package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"vnd/msgs"
	actionmsgs "vnd/msgs/action_msgs"
	uniqueidentifiermsgs "vnd/msgs/unique_identifier_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

// Action is one of the graph.
type Action struct {
	Name    string   `json:"name"`
	Types   []string `json:"types"`
	Servers []string `json:"servers"` // their nodes
	Clients []string `json:"clients"`
}

const feedbackTopic, statusTopic = "/_action/feedback", "/_action/status"

// Actions are those that a node serves or asks for.
func (p *Operator) Actions() (all []Action) {
	g := p.Context().Graph()
	topics := g.Topics()
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		name, ok := strings.CutSuffix(topic, feedbackTopic)
		if !ok {
			continue
		}
		a := Action{Name: name, Servers: nodesOf(g.Publishers(name + statusTopic)),
			Clients: nodesOf(g.Subscriptions(name + statusTopic))}
		for _, t := range topics[topic] {
			a.Types = append(a.Types, strings.TrimSuffix(t, "_FeedbackMessage"))
		}
		all = append(all, a)
	}
	return all
}

// Action waits for an action that somebody serves.
func (p *Operator) Action(ctx context.Context, name string) (found Action, err error) {
	full := p.full(name)
	err = p.await(ctx, func(rmw.Graph) bool {
		all := p.Actions()
		i := slices.IndexFunc(all, func(a Action) bool { return a.Name == full && len(a.Servers) > 0 })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	}, full, fmt.Sprintf("action %s: nobody serves it", full), func() (names []string) {
		for _, a := range p.Actions() {
			names = append(names, a.Name)
		}
		return names
	})
	if err == nil && len(found.Types) > 1 {
		err = fmt.Errorf("action %s is served in several types: %s", full, strings.Join(found.Types, ", "))
	}
	return found, err
}

// Pursuit is what came of a goal.
type Pursuit struct {
	ID     action.ID
	Goal   cdr.Message
	Status action.Status
	Result cdr.Message
}

// Pursue has a goal pursued, whose fields are YAML such as "{order: 4}", to its end. accepted and feedback are called
// on the way. Where ctx ends before the goal, the goal is canceled.
func (p *Operator) Pursue(ctx context.Context, name, values string, accepted func(*Pursuit),
	feedback func(cdr.Message)) (*Pursuit, error) {
	found, err := p.Action(ctx, name)
	if err != nil {
		return nil, err
	}
	t, ok := msgs.LookupAction(found.Types[0])
	if !ok {
		return nil, fmt.Errorf("action %s is of type %s, which this program does not know", found.Name, found.Types[0])
	}
	goal := &Pursuit{ID: action.NewID(), Goal: t.Goal.New()}
	if err := Fill(goal.Goal, values); err != nil {
		return nil, fmt.Errorf("action %s (%s): %w", found.Name, t.Name, err)
	}
	turn := &inTurn{show: feedback}
	s, err := p.feedbackOf(goal.ID, found.Name, t, turn.feedback)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := p.sendGoal(ctx, goal, found.Name, t); err != nil {
		return nil, err
	}
	turn.begin(func() { accepted(goal) })
	return goal, p.result(ctx, goal, found.Name, t)
}

// inTurn holds feedback back that overtakes the answer to its goal.
type inTurn struct {
	show func(cdr.Message)

	mu    sync.Mutex
	begun bool
	early []cdr.Message
}

func (t *inTurn) feedback(m cdr.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		t.early = append(t.early, m)
		return
	}
	t.show(m)
}

// begin tells that the goal is accepted, then what came before.
func (t *inTurn) begin(accepted func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	accepted()
	for _, m := range t.early {
		t.show(m)
	}
	t.begun, t.early = true, nil
}

// feedbackOf hands on the feedback of one goal.
func (p *Operator) feedbackOf(id action.ID, name string, t msgs.Action, show func(cdr.Message)) (*ros.RawSubscription,
	error) {
	return ros.NewRawSubscription(p.Node, name+feedbackTopic, t.FeedbackMessage.Name, ros.DefaultQoS(),
		func(data []byte, _ ros.Info) {
			m := t.FeedbackMessage.New()
			if err := cdr.Unmarshal(data, m); err != nil {
				return
			}
			if v := reflect.ValueOf(m).Elem(); goalID(v).UUID == [16]byte(id) {
				show(v.FieldByName("Feedback").Addr().Interface().(cdr.Message))
			}
		})
}

// goalID is the field of that name of a message of an action.
func goalID(v reflect.Value) *uniqueidentifiermsgs.UUID {
	return v.FieldByName("GoalID").Addr().Interface().(*uniqueidentifiermsgs.UUID)
}

func (p *Operator) sendGoal(ctx context.Context, goal *Pursuit, name string, t msgs.Action) error {
	c, err := ros.NewDynamicClient(p.Node, name+"/_action/send_goal", t.SendGoal.Name, t.SendGoal.Response.New)
	if err != nil {
		return err
	}
	q := t.SendGoal.Request.New()
	v := reflect.ValueOf(q).Elem()
	goalID(v).UUID = goal.ID
	v.FieldByName("Goal").Set(reflect.ValueOf(goal.Goal).Elem())
	r, err := request(ctx, p, c, &ros.Dynamic{Message: q})
	if err != nil {
		return err
	}
	if !reflect.ValueOf(r.Message).Elem().FieldByName("Accepted").Bool() {
		return fmt.Errorf("action %s: the goal was rejected; the node's log says why", name)
	}
	return nil
}

// result waits for the goal's end, and cancels the goal where ctx ends before.
func (p *Operator) result(ctx context.Context, goal *Pursuit, name string, t msgs.Action) error {
	c, err := ros.NewDynamicClient(p.Node, name+"/_action/get_result", t.GetResult.Name, t.GetResult.Response.New)
	if err != nil {
		return err
	}
	defer c.Close()
	q := t.GetResult.Request.New()
	goalID(reflect.ValueOf(q).Elem()).UUID = goal.ID
	ends, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	canceled := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(p.patience, stop)
		canceled <- p.cancelGoal(goal.ID, name)
	})()
	r, err := c.Call(ends, &ros.Dynamic{Message: q})
	if err != nil {
		select {
		case err = <-canceled:
		default:
		}
		return errors.Join(err, ctx.Err())
	}
	v := reflect.ValueOf(r.Message).Elem()
	goal.Status = action.Status(v.FieldByName("Status").Int())
	goal.Result = v.FieldByName("Result").Addr().Interface().(cdr.Message)
	return nil
}

func (p *Operator) cancelGoal(id action.ID, name string) error {
	q := &actionmsgs.CancelGoalRequest{GoalInfo: actionmsgs.GoalInfo{GoalID: uniqueidentifiermsgs.UUID{UUID: id}}}
	r, err := ask[actionmsgs.CancelGoalResponse](context.Background(), p, name+"/_action/cancel_goal", q)
	if err == nil && r.ReturnCode != actionmsgs.CancelGoalResponseErrorNone {
		err = fmt.Errorf("action %s: the goal cannot be canceled (code %d)", name, r.ReturnCode)
	}
	return err
}
