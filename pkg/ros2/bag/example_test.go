package bag_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// A bag is written, which ros2 bag opens as well, and read.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "bag-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "words")
	if err := writeWords(path, "one", "two"); err != nil {
		log.Fatal(err)
	}
	r, err := bag.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for m, err := range r.Messages("/words") {
		var word stdmsgs.String
		if err == nil {
			err = cdr.Unmarshal(m.Data, &word)
		}
		fmt.Println(m.LogTime, m.Type, word.Data, err)
	}
	// Output:
	// 1000 std_msgs/msg/String one <nil>
	// 2000 std_msgs/msg/String two <nil>
}

func writeWords(path string, words ...string) error {
	w, err := bag.Create(path, bag.WriterOptions{})
	if err != nil {
		return err
	}
	if err := w.AddTopic(bag.Topic{Name: "/words", Type: "std_msgs/msg/String", Encoding: "cdr"}); err != nil {
		return w.Finish(err)
	}
	for i, word := range words {
		data, err := cdr.Marshal(&stdmsgs.String{Data: word})
		if err != nil {
			return w.Finish(err)
		}
		at := int64(i+1) * 1000
		if err := w.Write(&bag.Message{Topic: "/words", LogTime: at, PublishTime: at, Data: data}); err != nil {
			return w.Finish(err)
		}
	}
	return w.Finish(nil)
}
