//! Sessions of a client and a server: request, answer, next request.

use super::common::{
    CLASS, ConnectionUse, SERVICE, SERVICE_JITTER, START, STOP, ServiceTime, make_fault, read_unrepeated_hosts,
    read_window, round_to_ps,
};
use super::draft::FlowDraft;
use super::draws::{DrawPurpose, MessageDraws};
use super::{Context, FlowRole, FlowSpec, OWN_CONNECTION, SIZES, Sizes, common};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{HostId, Stream, StreamPurpose};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "request_reply",
    doc: "Sessions of a client and a server: a request, its reply, and after a think time the next request. With \
          `clock`, requests follow at fixed intervals, whether replies have arrived or not.",
    cite: "PABO §VI",
    params: &[
        Param {
            name: "clients",
            doc: "Clients, by name or number; by default all hosts, except a host that is the only server.",
            kind: ParamKind::Texts,
            default: Some(""),
        },
        Param {
            name: "servers",
            doc: "Servers, by name or number; all hosts by default.",
            kind: ParamKind::Texts,
            default: Some(""),
        },
        Param {
            name: "pairs",
            doc: "Selection of the server of a session; clients get sessions in turn. `random`: each server is drawn. \
                  `in_turn`: servers in their order, except the client itself. `all`: every client has one session \
                  with every server.",
            kind: ServerSelection::KIND,
            default: Some("random"),
        },
        Param {
            name: "sessions",
            doc: "Number of sessions; by default one for each client. Not allowed if `pairs` is `all`.",
            kind: ParamKind::Count { min: 1, max: MAX_SESSIONS },
            default: Some(""),
        },
        Param {
            name: "request",
            doc: "Payload of a request.",
            kind: ParamKind::Size { min: 1 },
            default: Some("200B"),
        },
        Param {
            name: "reply",
            doc: "Payload of a reply: a size, or a distribution as in `sizes` of `poisson`.",
            kind: ParamKind::Sizes(SIZES),
            default: None,
        },
        Param {
            name: "requests",
            doc: "Number of requests of a session; unlimited by default.",
            kind: ParamKind::Count { min: 1, max: 1_000_000_000 },
            default: Some(""),
        },
        Param {
            name: "think",
            doc: "Time from the last byte of a reply to the next request. Without this key and without `clock`, the \
                  time is 0.",
            kind: ParamKind::Time { min: 0 },
            default: Some(""),
        },
        Param {
            name: "think_gaps",
            doc: "Distribution of think times: constant, or exponential with mean `think`.",
            kind: ThinkGaps::KIND,
            default: Some("constant"),
        },
        Param {
            name: "clock",
            doc: "Time from one request to the next, instead of `think`: requests are sent whether replies have \
                  arrived or not.",
            kind: ParamKind::Time { min: 1 },
            default: Some(""),
        },
        SERVICE,
        SERVICE_JITTER,
        Param {
            name: "connection",
            doc: "Connections of a session. `persistent`: one connection in each direction, which keeps windows and \
                  timers from message to message. `new`: one connection for every message.",
            kind: ConnectionUse::KIND,
            default: Some("persistent"),
        },
        START,
        STOP,
        Param {
            name: "jitter",
            doc: "Maximum of a random delay of the start of a session, drawn uniformly between 0 and this value.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        CLASS,
    ],
};

/// Largest number of sessions of a workload. Each takes memory for its progress, its random draws and up to two
/// connections.
const MAX_SESSIONS: u64 = 200_000;

/// Rule for the time of a session's next request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RequestTimes {
    /// Fixed time from a reply to the next request.
    Think(Dur),
    /// Exponential time from a reply to the next request, with this mean in picoseconds.
    Exponential(f64),
    /// Fixed time from one request to the next.
    Clock(Dur),
}

choice! {
    /// Selection of the servers of sessions.
    enum ServerSelection {
        Random = "random",
        InTurn = "in_turn",
        All = "all",
    }
}

choice! {
    /// Distribution of think times.
    enum ThinkGaps {
        Constant = "constant",
        Exponential = "exponential",
    }
}

/// Parameters of a session workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sessions {
    clients: Vec<HostId>,
    servers: Vec<HostId>,
    pairs: ServerSelection,
    sessions: u64,
    request: u64,
    reply: Arc<Sizes>,
    requests: u64,
    pace: RequestTimes,
    service: ServiceTime,
    persistent: bool,
    start: Time,
    stop: Time,
}

impl Sessions {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Sessions, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = read_window(values, ctx, &mut faults);
        let pace = read_request_times(values, &mut faults);
        let mut listed =
            |field| read_unrepeated_hosts(ctx, field, values).map_err(|more| faults.extend(more)).unwrap_or_default();
        let (mut clients, servers) = (listed("clients"), listed("servers"));
        let reply = Sizes::read_sizes("reply", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        let pairs = values.get("pairs");
        let Some(reply) = reply.filter(|_| faults.is_empty()) else { return Err(faults) };
        let lonely = |client: &HostId| servers.iter().all(|server| server == client);
        if !values.has("clients") {
            clients.retain(|client| !lonely(client));
        }
        let lonely = clients.iter().find(|client| lonely(client));
        if let Some(HostId(client)) = lonely {
            let found = format!("the client `{}` as the only server", ctx.topology.nodes[*client as usize].name);
            return Err(vec![make_fault("servers", found, "another server than the client itself")]);
        }
        let sessions = count_sessions(values, pairs, &clients, &servers)?;
        Ok(Sessions {
            clients,
            servers,
            pairs,
            sessions,
            request: values.size("request"),
            reply: Arc::new(reply),
            requests: if values.has("requests") { values.count("requests") } else { u64::MAX },
            pace,
            service: ServiceTime::from_values(values),
            persistent: values.get::<ConnectionUse>("connection") == ConnectionUse::Persistent,
            start,
            stop,
        })
    }

    pub fn is_persistent(&self) -> bool {
        self.persistent
    }

    /// Returns the number of messages that start before an instant if requests follow a clock; otherwise a lower bound.
    pub fn flows_before(&self, end: Time) -> f64 {
        let span = self.stop.min(end).since(self.start).0 as f64;
        let requests = match self.pace {
            RequestTimes::Clock(time) => (span / time.0 as f64).ceil().min(self.requests as f64),
            _ => 1.0,
        };
        2.0 * requests * self.sessions as f64
    }

    /// Returns the number of requests that start within a length of time, and the larger of the mean payloads of
    /// request and reply.
    pub fn requests_within(&self, within: Dur) -> (f64, f64) {
        (self.flows_before(self.start.saturating_add(within)) / 2.0, self.reply.mean_bytes().max(self.request as f64))
    }

    /// Returns an iterator over requests for each session: its first one, or all of them if they follow a clock.
    pub fn first_requests(&self, workload: u16, seed: u64, jitter: Dur) -> impl Iterator<Item = Session> + use<> {
        let plan = Arc::new(self.session_plan(workload, 0, seed));
        (0..self.sessions as u32).map(move |session| {
            let mut late = plan.draws.stream(session, DrawPurpose::Jitter, 0);
            let late = if jitter == Dur::ZERO { 0 } else { late.uniform_below(jitter.0) };
            Session { next: plan.sessions.start.saturating_add(Dur(late)), plan: plan.clone(), session, n: 0 }
        })
    }

    pub fn reply_source(&self, workload: u16, class: u8, seed: u64) -> Replies {
        Replies(Arc::new(self.session_plan(workload, class, seed)))
    }

    fn session_plan(&self, workload: u16, class: u8, seed: u64) -> SessionPlan {
        let draws = Stream::new(seed, common::QUERY_HOST_STREAM, StreamPurpose::Traffic(workload));
        let ends = match self.pairs {
            ServerSelection::All => {
                let pairs = self.clients.iter().flat_map(|c| self.servers.iter().map(move |s| (*c, *s)));
                pairs.filter(|(client, server)| client != server).collect()
            }
            _ => (0..self.sessions)
                .map(|session| self.draw_client_and_server(session, draws.clone().at_position(session)))
                .collect(),
        };
        SessionPlan { sessions: self.clone(), endpoints: ends, draws: MessageDraws { seed, workload }, class }
    }

    /// Returns the client and the server of a session. PRECONDITION: some server is not the client.
    fn draw_client_and_server(&self, session: u64, mut draws: Stream) -> (HostId, HostId) {
        let (clients, servers) = (&self.clients, &self.servers);
        let client = clients[(session % clients.len() as u64) as usize];
        let mut at = session % servers.len() as u64;
        loop {
            if self.pairs == ServerSelection::Random {
                at = draws.uniform_below(servers.len() as u64);
            }
            let server = servers[at as usize];
            if server != client {
                return (client, server);
            }
            at = (at + 1) % servers.len() as u64;
        }
    }
}

fn read_request_times(values: &Values, faults: &mut Vec<Fault>) -> RequestTimes {
    let (think, exponential) = (values.has("think"), values.get::<ThinkGaps>("think_gaps") == ThinkGaps::Exponential);
    if values.has("clock") {
        if think {
            let found = values.time("clock").to_string();
            faults.push(make_fault("clock", found, "no value if `think` is given"));
        }
        if exponential {
            faults.push(make_fault("think_gaps", "`exponential`", "no value if `clock` is given"));
        }
        return RequestTimes::Clock(values.time("clock"));
    }
    if exponential && !think {
        faults.push(make_fault("think_gaps", "`exponential`", "no value if `think` is not given"));
    }
    let think = if think { values.time("think") } else { Dur::ZERO };
    if exponential { RequestTimes::Exponential(think.0 as f64) } else { RequestTimes::Think(think) }
}

fn count_sessions(
    values: &Values,
    pairs: ServerSelection,
    clients: &[HostId],
    servers: &[HostId],
) -> Result<u64, Vec<Fault>> {
    if pairs != ServerSelection::All {
        return Ok(if values.has("sessions") { values.count("sessions") } else { clients.len() as u64 });
    }
    if values.has("sessions") {
        let found = values.count("sessions").to_string();
        return Err(vec![make_fault("sessions", found, "no value if `pairs` is `all`")]);
    }
    let both = clients.iter().filter(|client| servers.contains(client)).count() as u64;
    let sessions = clients.len() as u64 * servers.len() as u64 - both;
    let found = || format!("`all`, which gives {sessions} sessions");
    let rule = || format!("at most {MAX_SESSIONS} sessions");
    if sessions > MAX_SESSIONS { Err(vec![make_fault("pairs", found(), rule())]) } else { Ok(sessions) }
}

/// Settings that all sessions of a workload share.
#[derive(Clone, Debug)]
struct SessionPlan {
    sessions: Sessions,
    endpoints: Vec<(HostId, HostId)>,
    draws: MessageDraws,
    class: u8,
}

impl SessionPlan {
    /// Returns the query number of a session's `n`-th request; `None` if there is no such request.
    fn query_number(&self, session: u32, n: u64) -> Option<u32> {
        let query = n.checked_mul(self.sessions.sessions)?.checked_add(u64::from(session))?;
        u32::try_from(query).ok().filter(|query| n < self.sessions.requests && *query < u32::MAX)
    }

    fn connection_number(&self, session: u32, role: FlowRole) -> u32 {
        if self.sessions.persistent { 2 * session + u32::from(role == FlowRole::Data) } else { OWN_CONNECTION }
    }

    fn draft_request(&self, session: u32, n: u64) -> Option<FlowDraft> {
        let (client, server) = self.endpoints[session as usize];
        Some(FlowDraft {
            role: FlowRole::Request,
            tag: n,
            connection: self.connection_number(session, FlowRole::Request),
            ..FlowDraft::on_own_connection(client, server, self.sessions.request, self.query_number(session, n)?)
        })
    }

    fn draft_reply(&self, session: u32, n: u64) -> Option<FlowDraft> {
        let (client, server) = self.endpoints[session as usize];
        let bytes = self.sessions.reply.quantile(self.draws.stream(session, DrawPurpose::Size, n).uniform());
        Some(FlowDraft {
            tag: n,
            connection: self.connection_number(session, FlowRole::Data),
            ..FlowDraft::on_own_connection(server, client, bytes, self.query_number(session, n)?)
        })
    }

    /// Returns the time from a session's `n`-th reply to its next request; `None` if requests follow a clock.
    fn think_time(&self, session: u32, n: u64) -> Option<Dur> {
        match self.sessions.pace {
            RequestTimes::Think(time) => Some(time),
            RequestTimes::Exponential(mean) => {
                Some(round_to_ps(self.draws.stream(session, DrawPurpose::Think, n).exponential(mean)))
            }
            RequestTimes::Clock(_) => None,
        }
    }
}

/// Generator of a session's requests that do not depend on replies.
#[derive(Clone, Debug)]
pub(super) struct Session {
    plan: Arc<SessionPlan>,
    session: u32,
    next: Time,
    n: u64,
}

impl Session {
    pub fn next_start(&self) -> Time {
        let more = self.next < self.plan.sessions.stop && self.plan.query_number(self.session, self.n).is_some();
        if more { self.next } else { Time::NEVER }
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        out.extend(self.plan.draft_request(self.session, self.n));
        self.n += 1;
        self.next = match self.plan.sessions.pace {
            RequestTimes::Clock(time) => self.next.saturating_add(time),
            _ => Time::NEVER,
        };
    }
}

/// Generator of replies to requests, and of requests that follow replies.
#[derive(Clone, Debug)]
pub struct Replies(Arc<SessionPlan>);

impl Replies {
    pub(super) fn on_delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        let (plan, n) = (&self.0, message.tag);
        let session = (u64::from(message.query) % plan.sessions.sessions) as u32;
        let (after, draft) = match message.role {
            FlowRole::Request => {
                let service = plan.sessions.service.draw(|| plan.draws.stream(session, DrawPurpose::Service, n));
                (Some(service), plan.draft_reply(session, n))
            }
            FlowRole::Data => (plan.think_time(session, n), plan.draft_request(session, n + 1)),
        };
        let Some((start, draft)) = after.map(|after| now.saturating_add(after)).zip(draft) else { return };
        // A request that was sent is answered even after `stop`, but no new request is sent.
        if draft.role == FlowRole::Data || start < plan.sessions.stop {
            out.push(draft.into_flow(start, message.traffic, plan.class));
        }
    }
}
