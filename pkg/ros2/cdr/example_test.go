package cdr_test

import (
	"fmt"
	"log"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/cdr"
)

// A message as it is on the wire: four bytes say how the others are written.
func ExampleMarshal() {
	wire, err := cdr.Marshal(&stdmsgs.String{Data: "hello"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("% x\n", wire)
	var back stdmsgs.String
	err = cdr.Unmarshal(wire, &back)
	fmt.Println(back.Data, err)
	// Output:
	// 00 01 00 00 06 00 00 00 68 65 6c 6c 6f 00
	// hello <nil>
}
