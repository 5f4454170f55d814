// A node of ros2-client (RustDDS) that sends "rust N" on /to_go until standard
// input ends, and prints what it hears on /from_go.

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use ros2_client::qos::{Durability, History, WhenFull};
use ros2_client::{Context, MessageTypeName, Name, NodeName, NodeOptions, QosProfile};

fn main() {
    let context = Context::new().unwrap();
    let mut node = context
        .new_node(NodeName::new("/rust", "peer").unwrap(), NodeOptions::new())
        .unwrap();
    let qos = QosProfile::publisher_default()
        .reliability_reliable(WhenFull::DEFAULT)
        .durability(Durability::Volatile)
        .history(History::KeepLast { depth: 10 });
    let topic = |name| {
        node.create_topic(&Name::new("/", name).unwrap(), MessageTypeName::new("std_msgs", "String"), &qos)
            .unwrap()
    };
    let (to, from) = (topic("to_go"), topic("from_go"));
    let publisher = node.create_publisher::<String>(&to, None).unwrap();
    let subscription = node.create_subscription::<String>(&from, None).unwrap();

    let ended = Arc::new(AtomicBool::new(false));
    let end = ended.clone();
    std::thread::spawn(move || {
        for _ in io::stdin().lock().lines() {}
        end.store(true, Ordering::Relaxed);
    });
    for i in 0.. {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        if i % 10 == 0 {
            publisher.publish(format!("rust {i}")).unwrap();
        }
        while let Ok(Some((message, _))) = subscription.take() {
            println!("{message}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
