// Where ns-3 3.37 reads an RFC otherwise than we do, our reading, built from outside: put in the
// place of ns-3's own classes by --rules=ours. A difference that goes away with one of these has
// it for its cause. docs/internals/ns3.md has the list.

#pragma once

#include "ns3/internet-module.h"
#include <set>

namespace twin {

using namespace ns3;
using State = TcpSocketState;

// One past what was sent: after a timeout from the first byte not acknowledged on, as in RFC 6582.
inline SequenceNumber32 SentUpTo(Ptr<const State> tcb)
{
    return tcb->m_congState == State::CA_LOSS ? tcb->m_nextTxSequence : tcb->m_highTxMark;
}

// Congestion avoidance in bytes (RFC 5681 eq. 3).
inline void Grow(Ptr<State> tcb)
{
    uint32_t mss = tcb->m_segmentSize;
    tcb->m_cWnd += std::max<uint32_t>(1, mss * mss / tcb->m_cWnd);
}

// How many segments an ACK counts for when the window opens. One that ends a fast recovery does not
// open it (RFC 6582 §3.2 step 3); one that ends the repair after a timeout does (RFC 5681 eq. 2), for
// which ns-3 counts only what is beyond the repair.
struct Moment {
    SequenceNumber32 sent_before_duplicates;
    Time entered = Seconds(-1), left_recovery = Seconds(-1), left_loss = Seconds(-1);
    void Note(Ptr<const State> tcb, State::TcpCongState_t to)
    {
        if (to == State::CA_DISORDER)
            sent_before_duplicates = tcb->m_highTxMark;
        if (to == State::CA_RECOVERY)
            entered = Simulator::Now();
        if (to == State::CA_OPEN && tcb->m_congState == State::CA_RECOVERY)
            left_recovery = Simulator::Now();
        if (to == State::CA_OPEN && tcb->m_congState == State::CA_LOSS)
            left_loss = Simulator::Now();
    }
    uint32_t Opens(uint32_t segments) const
    {
        if (left_recovery == Simulator::Now())
            return 0;
        return left_loss == Simulator::Now() ? std::max(segments, 1u) : segments;
    }
    // ssthresh after a loss (RFC 5681 eq. 4), by what was sent and is not acknowledged (§2), without
    // what limited transmit sent (RFC 3042 §2). ns-3 takes what it holds for being under way.
    uint32_t AfterLoss(Ptr<const State> tcb) const
    {
        bool fast = entered == Simulator::Now();
        uint32_t flight = (fast ? sent_before_duplicates : SentUpTo(tcb)) - tcb->m_lastAckedSeq;
        return std::max(2 * tcb->m_segmentSize, flight / 2);
    }
};

class NewReno : public TcpNewReno {
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("twin::NewReno").SetParent<TcpNewReno>().AddConstructor<NewReno>();
        return id;
    }
    uint32_t GetSsThresh(Ptr<const State> tcb, uint32_t) override { return moment.AfterLoss(tcb); }
    void CongestionStateSet(Ptr<State> tcb, const State::TcpCongState_t to) override { moment.Note(tcb, to); }
    void IncreaseWindow(Ptr<State> tcb, uint32_t segments) override
    {
        TcpNewReno::IncreaseWindow(tcb, moment.Opens(segments));
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<NewReno>(this); }

  private:
    Moment moment;
};

class Dctcp : public TcpDctcp {
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("twin::Dctcp").SetParent<TcpDctcp>().AddConstructor<Dctcp>();
        return id;
    }
    // Losses as any TCP does (RFC 8257 §3.5); a mark cuts by α, to two segments at least.
    uint32_t GetSsThresh(Ptr<const State> tcb, uint32_t) override
    {
        asked = Simulator::Now();
        before = tcb->m_cWnd;
        return tcb->m_congState == State::CA_RECOVERY ? moment.AfterLoss(tcb) : Cut(tcb);
    }
    // The estimate of §3.3, steps 1 to 8; WindowEnd begins at SND.UNA. ns-3 cuts before it takes the
    // ACK into the estimate: cut once more. What is not marked opens the window after a cut as well.
    void PktsAcked(Ptr<State> tcb, uint32_t, const Time&) override
    {
        uint32_t bytes = tcb->m_lastAckedSeq - una;
        if (bytes == 0)
            return;
        bool marked = tcb->m_ecnState == State::ECN_ECE_RCVD;
        una = tcb->m_lastAckedSeq;
        bytes_acked += bytes;
        bytes_marked += marked ? bytes : 0;
        if (una > window_end) {
            alpha += (double(bytes_marked) / bytes_acked - alpha) / 16;
            window_end = SentUpTo(tcb);
            bytes_acked = bytes_marked = 0;
        }
        if (tcb->m_congState != State::CA_CWR)
            return;
        if (asked == Simulator::Now()) {
            tcb->m_cWnd = before;
            tcb->m_cWnd = Cut(tcb);
        } else if (!marked) {
            Grow(tcb);
        }
        tcb->m_ssThresh = tcb->m_cWnd.Get();
    }
    void CwndEvent(Ptr<State> tcb, const State::TcpCAEvent_t event) override
    {
        if (event == State::CA_EVENT_LOSS && asked == Simulator::Now())
            tcb->m_ssThresh = moment.AfterLoss(tcb);
        TcpDctcp::CwndEvent(tcb, event);
    }
    void CongestionStateSet(Ptr<State> tcb, const State::TcpCongState_t to) override { moment.Note(tcb, to); }
    void IncreaseWindow(Ptr<State> tcb, uint32_t segments) override
    {
        if (moment.Opens(segments) == 0)
            return;
        if (tcb->m_cWnd < tcb->m_ssThresh)
            tcb->m_cWnd += tcb->m_segmentSize;
        else
            Grow(tcb);
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<Dctcp>(this); }

  private:
    uint32_t Cut(Ptr<const State> tcb) const
    {
        uint32_t cwnd = tcb->m_cWnd;
        return std::max(2 * tcb->m_segmentSize, cwnd - uint32_t(cwnd * alpha / 2));
    }

    Moment moment;
    Time asked = Seconds(-1);
    SequenceNumber32 una{1}, window_end{1}; // 1 is the first byte: the initial sequence number is 0
    uint32_t before = 0, bytes_acked = 0, bytes_marked = 0;
    double alpha = 1;
};

// RFC 6582 §3.2 step 3, choice 1, after a loss; ns-3 takes choice 2. With SACK cwnd stays (RFC 6675 §5 (A)).
class Recovery : public TcpClassicRecovery {
  public:
    inline static bool sack = false; // of all sockets
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("twin::Recovery").SetParent<TcpClassicRecovery>().AddConstructor<Recovery>();
        return id;
    }
    void EnterRecovery(Ptr<State> tcb, uint32_t duplicates, uint32_t unacked, uint32_t delivered) override
    {
        loss = tcb->m_congState == State::CA_RECOVERY;
        TcpClassicRecovery::EnterRecovery(tcb, duplicates, unacked, delivered);
    }
    void ExitRecovery(Ptr<State> tcb) override
    {
        uint32_t mss = tcb->m_segmentSize, flight = tcb->m_highTxMark.Get() - tcb->m_lastAckedSeq;
        if (loss && !sack)
            tcb->m_cWnd = std::min<uint32_t>(tcb->m_ssThresh, std::max(flight, mss) + mss);
        TcpClassicRecovery::ExitRecovery(tcb);
    }
    Ptr<TcpRecoveryOps> Fork() override { return CopyObject<Recovery>(this); }

  private:
    bool loss = false;
};

// What cannot be told to a congestion control, told to the socket.
//
// Duplicate ACKs count only once more than all that was sent before the last loss is acknowledged
// (RFC 6582 §3.2 step 1); in ns-3 once just that is, and those are of its own go-back-N. And the ACK
// that ends a recovery retransmits nothing (step 3); ns-3 takes duplicates that are left over for
// proof that what is now the first segment is lost, and sends it.
class Caution : public SimpleRefCount<Caution> {
  public:
    explicit Caution(Ptr<Socket> from) : socket(DynamicCast<TcpSocketBase>(from))
    {
        socket->TraceConnectWithoutContext("HighestSequence", MakeCallback(&Caution::Sent, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Caution::Changed, this));
        socket->TraceConnectWithoutContext("HighestRxAck", MakeCallback(&Caution::Acked, this));
    }

  private:
    void Sent(SequenceNumber32, SequenceNumber32 to) { sent = to; }
    void Changed(State::TcpCongState_t, State::TcpCongState_t to)
    {
        state = to;
        if (to != State::CA_LOSS && to != State::CA_RECOVERY)
            return;
        recover = sent;
        Set(1000000, false);
    }
    void Acked(SequenceNumber32, SequenceNumber32 to)
    {
        if (state == State::CA_RECOVERY && to >= recover)
            socket->GetTxBuffer()->ResetRenoSack();
        if (cautious && to > recover)
            Set(3, true);
    }
    void Set(uint32_t threshold, bool limited_transmit)
    {
        cautious = !limited_transmit;
        socket->SetAttribute("ReTxThreshold", UintegerValue(threshold));
        socket->SetAttribute("LimitedTransmit", BooleanValue(limited_transmit));
    }

    Ptr<TcpSocketBase> socket;
    SequenceNumber32 sent, recover;
    State::TcpCongState_t state = State::CA_OPEN;
    bool cautious = false;
};

// The sending socket, where what differs is neither of the above.
class Sender : public TcpSocketBase {
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("twin::Sender").SetParent<TcpSocketBase>().AddConstructor<Sender>();
        return id;
    }
    // As TcpL4Protocol makes its own.
    static Ptr<Socket> Make(Ptr<Node> node, TypeId congestion, TypeId recovery)
    {
        Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>();
        Ptr<Sender> socket = CreateObject<Sender>();
        ObjectFactory control, repair;
        control.SetTypeId(congestion);
        repair.SetTypeId(recovery);
        socket->SetNode(node);
        socket->SetTcp(tcp);
        socket->SetRtt(CreateObject<RttMeanDeviation>());
        socket->SetCongestionControlAlgorithm(control.Create<TcpCongestionOps>());
        socket->SetRecoveryAlgorithm(repair.Create<TcpRecoveryOps>());
        tcp->AddSocket(socket);
        return socket;
    }

  protected:
    // Without SACK, a recovery sends by the inflated window and what is outstanding (RFC 6582 §3.2
    // steps 2 and 3); ns-3 by what it holds for being under way. With SACK, rule 3 of NextSeg() is
    // for what is below the highest byte reported (RFC 6675 §4, (1.b)); in ns-3 for all.
    uint32_t AvailableWindow() const override
    {
        uint32_t room = TcpSocketBase::AvailableWindow();
        if (m_tcb->m_congState != State::CA_RECOVERY)
            return room;
        if (!m_sackEnabled) {
            uint32_t window = std::min(m_rWnd.Get(), m_tcb->m_cWndInfl.Get()), flight = UnAckDataCount();
            return window > flight ? window - flight : 0;
        }
        SequenceNumber32 next, end;
        bool any = m_txBuffer->NextSeg(&next, &end, true);
        bool above = reported.empty() || next > *reported.rbegin();
        return any && next < m_tcb->m_highTxMark && above ? 0 : room;
    }
    // A timeout's backoff lasts until a round trip is measured (RFC 6298 §5, Karn); in ns-3 until the
    // next ACK of new data.
    void ReTxTimeout() override
    {
        again.clear();
        TcpSocketBase::ReTxTimeout();
        backed_off = m_rto;
    }
    void EstimateRtt(const TcpHeader& header) override
    {
        uint32_t before = m_rtt->GetNSamples();
        TcpSocketBase::EstimateRtt(header);
        if (m_rtt->GetNSamples() > before)
            backed_off = Time(0);
    }
    void NewAck(const SequenceNumber32& ack, bool restart) override
    {
        TcpSocketBase::NewAck(ack, restart);
        if (backed_off.IsZero())
            return;
        m_rto = backed_off;
        if (restart && m_retxEvent.IsRunning()) {
            m_retxEvent.Cancel();
            m_retxEvent = Simulator::Schedule(m_rto, &Sender::ReTxTimeout, this);
        }
    }
    // The pipe is of what was not reported (RFC 6675 §4, SetPipe()); in ns-3 a retransmission counts
    // even once it is.
    uint32_t BytesInFlight() const override
    {
        uint32_t pipe = TcpSocketBase::BytesInFlight();
        for (SequenceNumber32 at : again)
            if (m_sackEnabled && reported.count(at))
                pipe -= std::min<uint32_t>(m_tcb->m_segmentSize, m_tcb->m_highTxMark.Get() - at);
        m_tcb->m_bytesInFlight = pipe;
        return pipe;
    }
    uint32_t SendDataPacket(SequenceNumber32 from, uint32_t most, bool with_ack) override
    {
        if (from < m_tcb->m_highTxMark)
            again.insert(from);
        return TcpSocketBase::SendDataPacket(from, most, with_ack);
    }
    // Rule 4, which ns-3 does not have: one rescue a recovery, of the highest segment not reported.
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override
    {
        if (m_sackEnabled && header.HasOption(TcpOption::SACK))
            Note(DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK))->GetSackList());
        TcpSocketBase::ReceivedAck(packet, header);
        for (auto* of : {&reported, &again})
            of->erase(of->begin(), of->lower_bound(m_txBuffer->HeadSequence()));
        SequenceNumber32 next, end, head = m_txBuffer->HeadSequence();
        uint32_t mss = m_tcb->m_segmentSize;
        if (!m_sackEnabled || m_tcb->m_congState != State::CA_RECOVERY || head <= rescued)
            return;
        if (TcpSocketBase::AvailableWindow() < mss || AvailableWindow() != 0 && m_txBuffer->NextSeg(&next, &end, true))
            return;
        SequenceNumber32 last = m_tcb->m_highTxMark.Get() - ((m_tcb->m_highTxMark.Get() - SequenceNumber32(1) - 1) % mss + 1);
        while (last >= head && reported.count(last))
            last -= mss;
        if (last < head)
            return;
        rescued = m_recover;
        SendDataPacket(last, mss, true);
    }
    // With SACK: an ACK that is cumulative sets the count of duplicates to 0 and opens the window
    // before it counts as a duplicate (RFC 6675 §5); one that acknowledges a part restarts the timer
    // (RFC 6298 (5.3)) and sends by the pipe alone (§5 (B), (C)); a loss is found at HighACK + 1
    // (§5 (2)).
    void ProcessAck(const SequenceNumber32& ack, bool updated, uint32_t delivered, const SequenceNumber32& head) override
    {
        if (!m_sackEnabled)
            return TcpSocketBase::ProcessAck(ack, updated, delivered, head);
        bool recovery = m_tcb->m_congState == State::CA_RECOVERY;
        if (ack > head && ack < m_recover && recovery) {
            m_tcb->m_lastAckedSeq = ack;
            NewAck(ack, true);
            return;
        }
        if (ack > head) {
            m_dupAckCount = 0;
            TcpSocketBase::ProcessAck(ack, false, delivered, head);
            if (updated && m_tcb->m_congState != State::CA_RECOVERY)
                DupAck(delivered);
        } else {
            TcpSocketBase::ProcessAck(ack, updated, delivered, head);
        }
        if (m_tcb->m_congState == State::CA_DISORDER && m_txBuffer->IsLost(m_txBuffer->HeadSequence()))
            EnterRecovery(delivered);
        if (!recovery && m_tcb->m_congState == State::CA_RECOVERY)
            rescued = m_txBuffer->HeadSequence() + m_tcb->m_segmentSize;
    }

  private:
    void Note(const TcpOptionSack::SackList& blocks)
    {
        for (auto& [from, to] : blocks)
            for (SequenceNumber32 at = from; at < to; at += m_tcb->m_segmentSize)
                reported.insert(at);
    }

    std::set<SequenceNumber32> reported, again; // first bytes of segments; again: sent again
    SequenceNumber32 rescued;
    Time backed_off{0}; // 0: not
};

} // namespace twin
