package fastdds

import "fmt"

// unlike is Unlike of a version of series 2. From 2.6.7, 2.10.3, 2.11.3, 2.12.2 and 2.13 on, participants with keys
// announce themselves once more behind them, and wait for that of each other. Those of before say that they do, and
// never do.
func unlike(version string) string {
	var minor, micro int
	if _, err := fmt.Sscanf(version, "2.%d.%d", &minor, &micro); err != nil {
		return ""
	}
	since, older := map[int]int{6: 7, 10: 3, 11: 3, 12: 2}[minor]
	if minor >= 13 || older && micro >= since {
		return ""
	}
	return fmt.Sprintf("with keys, Fast DDS %s here and that of ROS 2 (from 2.6.7, 2.10.3, 2.11.3 and 2.13 on) do not "+
		"find each other: colcon build makes ours with that of Humble or Jazzy, or export "+
		"RMW_IMPLEMENTATION=rmw_cyclonedds_cpp in every shell", version)
}
