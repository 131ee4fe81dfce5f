// Where ns-3 3.37 reads an RFC otherwise than we do, our reading, built from outside: put in the
// place of ns-3's own classes by --rules=ours. A difference that goes away with one of these has
// it for its cause. docs/internals/ns3.md has the list.

#pragma once

#include "ns3/internet-module.h"

namespace twin {

using namespace ns3;
using State = TcpSocketState;

// FlightSize is what was sent and is not yet acknowledged (RFC 5681 §2); ns-3 counts its pipe.
inline uint32_t FlightSize(Ptr<const State> tcb)
{
    return tcb->m_nextTxSequence.Get() - tcb->m_lastAckedSeq;
}

// ssthresh after a loss (RFC 5681 eq. 4). ns-3 hands over its pipe, in which the head is not and
// what limited transmit sent cancels out what it is told has left: one segment short of FlightSize.
inline uint32_t AfterLoss(Ptr<const State> tcb, uint32_t pipe)
{
    bool recovery = tcb->m_congState == State::CA_RECOVERY;
    uint32_t flight = recovery ? pipe + tcb->m_segmentSize : FlightSize(tcb);
    return std::max(2 * tcb->m_segmentSize, flight / 2);
}

// Congestion avoidance in bytes (RFC 5681 eq. 3).
inline void Grow(Ptr<State> tcb)
{
    uint32_t mss = tcb->m_segmentSize;
    tcb->m_cWnd += std::max<uint32_t>(1, mss * mss / tcb->m_cWnd);
}

// What both congestion controls need to know of the ACK at hand.
struct Moment {
    Time left_recovery = Seconds(-1); // the ACK that ends a recovery does not open the window
    void Note(Ptr<const State> tcb, State::TcpCongState_t to)
    {
        if (to == State::CA_OPEN && tcb->m_congState == State::CA_RECOVERY)
            left_recovery = Simulator::Now();
    }
    bool Opens() const { return left_recovery != Simulator::Now(); }
};

class NewReno : public TcpNewReno {
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("twin::NewReno").SetParent<TcpNewReno>().AddConstructor<NewReno>();
        return id;
    }
    uint32_t GetSsThresh(Ptr<const State> tcb, uint32_t pipe) override { return AfterLoss(tcb, pipe); }
    void CongestionStateSet(Ptr<State> tcb, const State::TcpCongState_t to) override { moment.Note(tcb, to); }
    void IncreaseWindow(Ptr<State> tcb, uint32_t segments) override
    {
        if (moment.Opens())
            TcpNewReno::IncreaseWindow(tcb, segments);
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
    uint32_t GetSsThresh(Ptr<const State> tcb, uint32_t pipe) override
    {
        pipe_at_loss = pipe;
        asked = Simulator::Now();
        if (tcb->m_congState == State::CA_RECOVERY)
            return AfterLoss(tcb, pipe);
        before = tcb->m_cWnd;
        return Cut(tcb);
    }
    // ns-3 cuts before it takes the ACK into its estimate: once more, with the new α (§3.3). What
    // is not marked goes on to open the window before the cut is a round trip old.
    void PktsAcked(Ptr<State> tcb, uint32_t segments, const Time& rtt) override
    {
        TcpDctcp::PktsAcked(tcb, segments, rtt);
        if (tcb->m_congState != State::CA_CWR)
            return;
        if (asked == Simulator::Now()) {
            tcb->m_cWnd = before;
            tcb->m_cWnd = Cut(tcb);
        } else if (segments > 0 && tcb->m_ecnState != State::ECN_ECE_RCVD) {
            Grow(tcb);
        }
        tcb->m_ssThresh = tcb->m_cWnd.Get();
    }
    void CwndEvent(Ptr<State> tcb, const State::TcpCAEvent_t event) override
    {
        if (event == State::CA_EVENT_LOSS && asked == Simulator::Now())
            tcb->m_ssThresh = AfterLoss(tcb, pipe_at_loss);
        TcpDctcp::CwndEvent(tcb, event);
    }
    void CongestionStateSet(Ptr<State> tcb, const State::TcpCongState_t to) override { moment.Note(tcb, to); }
    void IncreaseWindow(Ptr<State> tcb, uint32_t segments) override
    {
        if (!moment.Opens())
            return;
        if (tcb->m_cWnd < tcb->m_ssThresh)
            tcb->m_cWnd += segments > 0 ? tcb->m_segmentSize : 0;
        else if (segments > 0)
            Grow(tcb);
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<Dctcp>(this); }

  private:
    uint32_t Cut(Ptr<const State> tcb) { return std::max(2 * tcb->m_segmentSize, TcpDctcp::GetSsThresh(tcb, 0)); }

    Moment moment;
    Time asked = Seconds(-1);
    uint32_t before = 0, pipe_at_loss = 0;
};

// RFC 6582 §3.2 step 3, choice 1, after a loss; ns-3 takes choice 2.
class Recovery : public TcpClassicRecovery {
  public:
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
        if (loss)
            tcb->m_cWnd = std::min<uint32_t>(tcb->m_ssThresh, std::max(flight, mss) + mss);
        TcpClassicRecovery::ExitRecovery(tcb);
    }
    Ptr<TcpRecoveryOps> Fork() override { return CopyObject<Recovery>(this); }

  private:
    bool loss = false;
};

} // namespace twin
