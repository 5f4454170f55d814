package msggen

import (
	"fmt"
	"strings"
)

// Action is a .action file, with the types that rosidl derives from it.
type Action struct {
	Name                   string // full name: "example_interfaces/action/Fibonacci"
	Goal, Result, Feedback *Message
	SendGoal, GetResult    *Service
	FeedbackMessage        *Message
}

// Messages are all messages of the action, halves of its services included.
func (a *Action) Messages() []*Message {
	return []*Message{a.Goal, a.Result, a.Feedback, a.SendGoal.Request, a.SendGoal.Response, a.GetResult.Request,
		a.GetResult.Response, a.FeedbackMessage}
}

// ParseAction parses the text of a .action file: goal, result, feedback, with lines of three dashes between.
func ParseAction(file, full, text string) (*Action, error) {
	const goal = "unique_identifier_msgs/UUID goal_id # which goal\n"
	const stamp = "builtin_interfaces/Time stamp # when\n"
	const status = "int8 status # 0 … 6, as in action_msgs/GoalStatus\n"
	own, err := parseSections(file, full, text, "_Goal", "_Result", "_Feedback")
	if err != nil {
		return nil, err
	}
	derived := map[string]*Message{}
	for suffix, text := range map[string]string{
		"_SendGoal_Request":   goal + full + "_Goal goal # what to reach\n",
		"_SendGoal_Response":  "bool accepted # whether the goal will be pursued\n" + stamp,
		"_GetResult_Request":  goal,
		"_GetResult_Response": status + full + "_Result result # of the goal\n",
		"_FeedbackMessage":    goal + full + "_Feedback feedback # on the way to it\n",
	} {
		if derived[suffix], err = ParseMessage(file, full+suffix, text); err != nil {
			return nil, err
		}
	}
	service := func(name string) *Service {
		return &Service{Name: full + name, Request: derived[name+"_Request"], Response: derived[name+"_Response"]}
	}
	a := &Action{Name: full, Goal: own[0], Result: own[1], Feedback: own[2]}
	a.SendGoal, a.GetResult = service("_SendGoal"), service("_GetResult")
	a.FeedbackMessage = derived["_FeedbackMessage"]
	return a, nil
}

// parseSections parses the messages of one file, with lines of three dashes between.
func parseSections(file, full, text string, suffixes ...string) ([]*Message, error) {
	if _, _, _, err := SplitName(full); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	lines := strings.SplitAfter(text, "\n")
	starts, last := []int{0}, len(lines)
	for i, line := range lines {
		if strings.TrimRight(line, " \t\r\n") == "---" {
			starts, last = append(starts, i+1), i+1
		}
	}
	if len(starts) != len(suffixes) {
		if len(starts) < len(suffixes) {
			last = len(lines)
		}
		between := strings.ToLower(strings.ReplaceAll(strings.Join(suffixes, ","), "_", " "))
		return nil, fmt.Errorf("%s:%d: %d of the lines ---, expected %d, between%s", file, last, len(starts)-1,
			len(suffixes)-1, between)
	}
	var sections []*Message
	for i, suffix := range suffixes {
		end := len(lines)
		if i+1 < len(starts) {
			end = starts[i+1] - 1
		}
		m := &Message{Name: full + suffix, Text: strings.Join(lines[starts[i]:end], "")}
		p := parser{file: file, line: starts[i], msg: m}
		if err := p.parse(strings.Split(m.Text, "\n")); err != nil {
			return nil, err
		}
		sections = append(sections, m)
	}
	return sections, nil
}
