// The same network, queues, transport and flows as a scenario of ours, in ns-3.
//
// twin --topology=fat_tree|dumbbell --n=N --flows=FILE [--tcp=newreno|dctcp] [--mark=K] ...
// A flow is a line "source destination bytes start_ps". One JSON document on standard output:
// packet-hops, events and seconds of the run, drops and marks, and every flow's end.
//
// What waits before a link is what the traffic-control layer holds and one packet in the device:
// a device of one packet is the least that ns-3 has, so a queue of 100 packets that is marked
// from K on is a queue disc of 99 that is marked from K - 1 on. Hosts keep all in the device.

#include "rules.hh"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <chrono>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace ns3;

namespace {

constexpr uint16_t PORT = 5000;
const Time WARM = MilliSeconds(10); // connections are made before, data flows from here on

struct Settings {
    std::string topology = "dumbbell";
    std::string flows;
    std::string tcp = "dctcp";
    std::string rules = "stock";
    uint32_t n = 2;
    uint32_t queue = 100;
    uint32_t mark = 0; // 0: no marks
    uint32_t mss = 1460;
    uint32_t window = 10;
    std::string rate = "1Gbps";
    std::string delay = "1us";
    std::string bottleneck_rate = "1Gbps";
    std::string bottleneck_delay = "1us";
    std::string min_rto = "10ms";
    std::string until = "20s";
    std::string delivered_at = "0s"; // from WARM on; bytes delivered until then are told apart
    bool sack = false;
    bool timestamps = false;
    bool limited_transmit = false;
    bool handshake = false; // connect when a flow starts, not before WARM
    bool packets = false; // every arrival at a host, on standard error
};

struct Flow {
    uint32_t source, destination, bytes;
    int64_t start_ps;
    Ptr<Socket> socket;
    uint64_t received = 0;
    int64_t end_ps = -1;
};

std::vector<Flow> flows;
std::vector<Ptr<QueueDisc>> discs;
std::vector<Ptr<twin::Caution>> cautions;
TypeId congestion, recovery; // of the sending side
uint64_t hops = 0, host_drops = 0, early = 0;
size_t unfinished = 0;
Time early_until;

void PhyTxEnd(Ptr<const Packet>) { hops++; }
void HostDrop(Ptr<const Packet>) { host_drops++; }

void ApplyDefaults(const Settings& s)
{
    bool dctcp = s.tcp == "dctcp", ours = s.rules == "ours";
    TypeId stock = dctcp ? TcpDctcp::GetTypeId() : TcpNewReno::GetTypeId();
    TypeId changed = dctcp ? twin::Dctcp::GetTypeId() : twin::NewReno::GetTypeId();
    recovery = ours ? twin::Recovery::GetTypeId() : TcpClassicRecovery::GetTypeId();
    congestion = ours ? changed : stock;
    twin::Recovery::sack = s.sack;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(congestion));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recovery));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(s.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(s.window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1u << 30));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1u << 29));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(dctcp ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Time(s.min_rto)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(s.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(s.timestamps));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(s.limited_transmit));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MilliSeconds(10)));
}

// The ports of a network as they are made, host links first, so that host h is node h.
class Network {
  public:
    Network(const Settings& settings, uint32_t hosts, uint32_t switches) : settings(settings), hosts(hosts)
    {
        nodes.Create(hosts + switches);
        // Paths are found in both simulators; ns-3's are one per pair of hosts.
        Ipv4NixVectorHelper routing;
        InternetStackHelper stack;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.Install(nodes);
        addresses.SetBase("10.0.0.0", "255.255.255.252");
    }

    void Link(uint32_t a, uint32_t b, const std::string& rate, const std::string& delay)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue(delay));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
        NetDeviceContainer ends = link.Install(nodes.Get(a), nodes.Get(b));
        for (uint32_t i = 0; i < 2; i++) {
            Ptr<NetDevice> end = ends.Get(i);
            Outlet(end, (i == 0 ? a : b) < hosts);
        }
        Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
        addresses.NewNetwork();
        // What the address helper has put before a host's device by itself is taken away.
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t node = i == 0 ? a : b;
            if (node < hosts) {
                TrafficControlHelper().Uninstall(ends.Get(i));
                address[node] = interfaces.GetAddress(i);
            }
        }
    }

    NodeContainer nodes;
    std::map<uint32_t, Ipv4Address> address;

  private:
    void Outlet(Ptr<NetDevice> end, bool host)
    {
        end->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&PhyTxEnd));
        Ptr<Queue<Packet>> device = DynamicCast<PointToPointNetDevice>(end)->GetQueue();
        if (host) {
            device->SetMaxSize(QueueSize("1000000p"));
            device->TraceConnectWithoutContext("Drop", MakeCallback(&HostDrop));
            return;
        }
        TrafficControlHelper tc;
        std::string size = std::to_string(settings.queue - 1) + "p";
        if (settings.mark > 0) {
            double k = settings.mark - 1;
            tc.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue(size), "MinTh", DoubleValue(k), "MaxTh",
                                DoubleValue(k), "QW", DoubleValue(1.0), "Gentle", BooleanValue(false), "UseEcn",
                                BooleanValue(true), "UseHardDrop", BooleanValue(false), "MeanPktSize",
                                UintegerValue(1500), "LinkBandwidth", StringValue("1Gbps"));
        } else {
            tc.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(size));
        }
        discs.push_back(tc.Install(end).Get(0));
    }

    Settings settings;
    uint32_t hosts;
    Ipv4AddressHelper addresses;
};

std::unique_ptr<Network> FatTree(const Settings& s)
{
    uint32_t k = s.n, half = k / 2, hosts = k * half * half;
    uint32_t edge = hosts, agg = edge + k * half, core = agg + k * half;
    auto net = std::make_unique<Network>(s, hosts, 2 * k * half + half * half);
    for (uint32_t h = 0; h < hosts; h++)
        net->Link(h, edge + h / half, s.rate, s.delay);
    for (uint32_t e = 0; e < k * half; e++)
        for (uint32_t a = 0; a < half; a++)
            net->Link(edge + e, agg + e / half * half + a, s.rate, s.delay);
    for (uint32_t a = 0; a < k * half; a++)
        for (uint32_t c = 0; c < half; c++)
            net->Link(agg + a, core + a % half * half + c, s.rate, s.delay);
    return net;
}

std::unique_ptr<Network> Dumbbell(const Settings& s)
{
    auto net = std::make_unique<Network>(s, 2 * s.n, 2);
    for (uint32_t h = 0; h < 2 * s.n; h++)
        net->Link(h, 2 * s.n + h / s.n, s.rate, s.delay);
    net->Link(2 * s.n, 2 * s.n + 1, s.bottleneck_rate, s.bottleneck_delay);
    return net;
}

// Bytes have come, in order: the application reads them at once.
void Received(size_t flow, Ptr<Socket> socket)
{
    Flow& f = flows[flow];
    while (Ptr<Packet> packet = socket->Recv()) {
        f.received += packet->GetSize();
        if (Simulator::Now() < early_until)
            early += packet->GetSize();
    }
    if (f.received >= f.bytes && f.end_ps < 0) {
        f.end_ps = (Simulator::Now() - WARM).GetPicoSeconds();
        if (--unfinished == 0)
            Simulator::Stop();
    }
}

void Accepted(size_t flow, Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeBoundCallback(&Received, flow));
}

void Begin(size_t flow)
{
    Flow& f = flows[flow];
    NS_ABORT_MSG_IF(f.socket->Send(Create<Packet>(f.bytes)) != int(f.bytes), "the send buffer is too small");
}

Ptr<Socket> Sender(Ptr<Node> node, const Settings& s)
{
    if (s.rules != "ours")
        return Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
    Ptr<Socket> socket = twin::Sender::Make(node, congestion, recovery);
    if (!s.sack)
        cautions.push_back(Create<twin::Caution>(socket));
    return socket;
}

// Connects all before WARM, so that from then on ends are established, as ours are from the start;
// or each when its flow starts.
void Connect(const Network& net, const Settings& s)
{
    for (size_t i = 0; i < flows.size(); i++) {
        Flow& f = flows[i];
        Ptr<Socket> listener = Socket::CreateSocket(net.nodes.Get(f.destination), TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT + i));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeBoundCallback(&Accepted, i));
        f.socket = Sender(net.nodes.Get(f.source), s);
        f.socket->Bind();
        // One after the other, so that handshakes never queue and leave the same estimates everywhere.
        Time start = WARM + PicoSeconds(f.start_ps), connect = s.handshake ? start : MicroSeconds(20 * i);
        Simulator::Schedule(connect, [&f, to = InetSocketAddress(net.address.at(f.destination), PORT + i)] {
            f.socket->Connect(to);
        });
        // An established socket sends what it is handed one tick later.
        Simulator::Schedule(s.handshake ? start : start - TimeStep(1), &Begin, i);
    }
    unfinished = flows.size();
}

void ReadFlows(const std::string& name)
{
    std::ifstream file(name);
    Flow f;
    while (file >> f.source >> f.destination >> f.bytes >> f.start_ps)
        flows.push_back(f);
    NS_ABORT_MSG_IF(flows.empty(), "no flows in " << name);
}

// For the first packet that differs: what arrives at hosts, as "time flow seq ack flags payload".
void Arrival(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    TcpHeader tcp;
    copy->RemoveHeader(ip);
    copy->RemoveHeader(tcp);
    bool data = tcp.GetDestinationPort() >= PORT && tcp.GetDestinationPort() < PORT + flows.size();
    std::cerr << (Simulator::Now() - WARM).GetPicoSeconds() << ' '
              << (data ? tcp.GetDestinationPort() : tcp.GetSourcePort()) - PORT << ' ' << (data ? 'D' : 'A') << ' '
              << tcp.GetSequenceNumber() << ' ' << tcp.GetAckNumber() << ' ' << TcpHeader::FlagsToString(tcp.GetFlags())
              << ' ' << ip.GetEcn() << ' ' << copy->GetSize() << '\n';
}

uint64_t Resident()
{
    uint64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

void Report(const Settings& s, double seconds)
{
    uint64_t drops = host_drops, marks = 0;
    for (auto& disc : discs) {
        drops += disc->GetStats().nTotalDroppedPackets;
        marks += disc->GetStats().nTotalMarkedPackets;
    }
    std::cout << "{\"packet_hops\": " << hops << ", \"events\": " << Simulator::GetEventCount()
              << ", \"seconds\": " << seconds << ", \"rss_bytes\": " << Resident() << ", \"drops\": " << drops
              << ", \"marks\": " << marks << ", \"early_bytes\": " << early << ", \"flows\": [";
    for (size_t i = 0; i < flows.size(); i++)
        std::cout << (i ? ", " : "") << "[" << flows[i].received << ", " << flows[i].start_ps << ", "
                  << flows[i].end_ps << "]";
    std::cout << "]}" << std::endl;
}

} // namespace

int main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Settings s;
    CommandLine cmd;
    cmd.AddValue("topology", "fat_tree or dumbbell", s.topology);
    cmd.AddValue("n", "k of the fat-tree, or hosts on each side", s.n);
    cmd.AddValue("flows", "file of flows", s.flows);
    cmd.AddValue("tcp", "newreno or dctcp", s.tcp);
    cmd.AddValue("rules", "stock: ns-3 as it is; ours: where it differs, our reading", s.rules);
    cmd.AddValue("queue", "packets that may wait before a link", s.queue);
    cmd.AddValue("mark", "packets from which on arrivals are marked; 0: never", s.mark);
    cmd.AddValue("mss", "payload of a segment", s.mss);
    cmd.AddValue("window", "initial window, segments", s.window);
    cmd.AddValue("rate", "rate of the links", s.rate);
    cmd.AddValue("delay", "delay of the links", s.delay);
    cmd.AddValue("bottleneck_rate", "rate of the link between the switches", s.bottleneck_rate);
    cmd.AddValue("bottleneck_delay", "its delay", s.bottleneck_delay);
    cmd.AddValue("min_rto", "least retransmission timeout", s.min_rto);
    cmd.AddValue("until", "end of the run", s.until);
    cmd.AddValue("delivered_at", "instant at which delivered bytes are told", s.delivered_at);
    cmd.AddValue("sack", "selective acknowledgements", s.sack);
    cmd.AddValue("timestamps", "timestamps", s.timestamps);
    cmd.AddValue("limited_transmit", "RFC 3042", s.limited_transmit);
    cmd.AddValue("handshake", "connect when a flow starts", s.handshake);
    cmd.AddValue("packets", "tell every arrival at a host", s.packets);
    cmd.Parse(argc, argv);
    NS_ABORT_MSG_IF(s.topology != "fat_tree" && s.topology != "dumbbell", "no topology " << s.topology);
    NS_ABORT_MSG_IF(s.tcp != "newreno" && s.tcp != "dctcp", "no transport " << s.tcp);
    NS_ABORT_MSG_IF(s.rules != "stock" && s.rules != "ours", "no rules " << s.rules);
    ApplyDefaults(s);
    ReadFlows(s.flows);
    early_until = WARM + Time(s.delivered_at);
    std::unique_ptr<Network> net = s.topology == "fat_tree" ? FatTree(s) : Dumbbell(s);
    Connect(*net, s);
    if (s.packets)
        for (auto& [node, address] : net->address)
            net->nodes.Get(node)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Rx", MakeCallback(&Arrival));
    Simulator::Stop(WARM + Time(s.until));
    auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    Report(s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    Simulator::Destroy();
}
