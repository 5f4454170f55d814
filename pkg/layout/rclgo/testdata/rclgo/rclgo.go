// Package rclgo describes the part of rclgo that is used, at the version in rclgo/go.mod.
// Functions have no bodies. Types have only the fields that are named; types of C are pointers.
package rclgo

import (
	"time"

	"github.com/tiiuae/rclgo/pkg/rclgo/types"
)

type rcl struct{}

type Args struct{}

func ParseArgs(args []string) (*Args, []string, error)

type ContextOptions struct{ DomainID uint }

func NewDefaultContextOptions() *ContextOptions

type Context struct{ rcl_context_t *rcl }

func NewContextWithOpts(rclArgs *Args, opts *ContextOptions) (*Context, error)

func (c *Context) Close() error
func (c *Context) NewNode(name, namespace string) (*Node, error)

type Node struct{ rcl_node_t *rcl }

func (n *Node) Close() error
func (n *Node) NewPublisher(topic string, t types.MessageTypeSupport, o *PublisherOptions) (*Publisher, error)
func (n *Node) NewSubscription(topic string, t types.MessageTypeSupport, o *SubscriptionOptions,
	f SubscriptionCallback) (*Subscription, error)
func (n *Node) NewService(name string, t types.ServiceTypeSupport, o *ServiceOptions, f ServiceRequestHandler) (
	*Service, error)
func (n *Node) NewClient(name string, t types.ServiceTypeSupport, o *ClientOptions) (*Client, error)
func (n *Node) GetTopicNamesAndTypes(demangle bool) (map[string][]string, error)
func (n *Node) GetPublisherNamesAndTypesByNode(demangle bool, node, namespace string) (map[string][]string, error)
func (n *Node) GetSubscriberNamesAndTypesByNode(demangle bool, node, namespace string) (map[string][]string, error)
func (n *Node) GetServiceNamesAndTypesByNode(node, namespace string) (map[string][]string, error)
func (n *Node) GetClientNamesAndTypesByNode(node, namespace string) (map[string][]string, error)
func (n *Node) GetPublishersInfoByTopic(topic string, mangle bool) ([]TopicEndpointInfo, error)
func (n *Node) GetSubscriptionsInfoByTopic(topic string, mangle bool) ([]TopicEndpointInfo, error)

type PublisherOptions struct{ Qos QosProfile }

type Publisher struct{ rcl_publisher_t *rcl }

func (p *Publisher) Close() error
func (p *Publisher) GetSubscriptionCount() (int, error)

type SubscriptionOptions struct{ Qos QosProfile }

type SubscriptionCallback func(*Subscription)

type Subscription struct{ rcl_subscription_t *rcl }

func (s *Subscription) Close() error
func (s *Subscription) GetPublisherCount() (int, error)

type ServiceOptions struct{ Qos QosProfile }

type ServiceInfo struct{}

type ServiceResponseSender interface {
	SendResponse(resp types.Message) error
}

type ServiceRequestHandler func(*ServiceInfo, types.Message, ServiceResponseSender)

type Service struct{ rclService *rcl }

func (s *Service) Close() error

type ClientOptions struct{ Qos QosProfile }

type Client struct{ rclClient *rcl }

func (c *Client) Close() error

type GID [24]byte

type TopicEndpointInfo struct {
	NodeName, NodeNamespace, TopicType string
	EndpointGID                        GID
	QosProfile                         QosProfile
}

type (
	HistoryPolicy     int
	ReliabilityPolicy int
	DurabilityPolicy  int
	LivelinessPolicy  int
)

const (
	HistoryKeepLast          HistoryPolicy     = 1
	HistoryKeepAll           HistoryPolicy     = 2
	ReliabilityReliable      ReliabilityPolicy = 1
	ReliabilityBestEffort    ReliabilityPolicy = 2
	DurabilityTransientLocal DurabilityPolicy  = 1
	DurabilityVolatile       DurabilityPolicy  = 2
	LivelinessAutomatic      LivelinessPolicy  = 1
	LivelinessManualByTopic  LivelinessPolicy  = 3
)

type QosProfile struct {
	History                                     HistoryPolicy
	Depth                                       int
	Reliability                                 ReliabilityPolicy
	Durability                                  DurabilityPolicy
	Deadline, Lifespan, LivelinessLeaseDuration time.Duration
	Liveliness                                  LivelinessPolicy
}

type NodeNameNonExistent struct{}

func (e *NodeNameNonExistent) Error() string
