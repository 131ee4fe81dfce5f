//! Sessions of a client and a server: request, answer, next request.

use super::common::{
    CLASS, Connection, SERVICE, SERVICE_JITTER, START, STOP, Service, each_once, fault, rounded, window,
};
use super::draft::Draft;
use super::draws::{Draws, What};
use super::{Context, FlowSpec, OWN, Role, SIZES, Sizes, common};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Kind, Param, Spec, Values};
use mech::{HostId, Purpose, Stream};
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
            kind: Kind::Texts,
            default: Some(""),
        },
        Param {
            name: "servers",
            doc: "Servers, by name or number; all hosts by default.",
            kind: Kind::Texts,
            default: Some(""),
        },
        Param {
            name: "pairs",
            doc: "Servers of sessions, while clients get sessions in turn. `random`: each server is drawn. `in_turn`: \
                  servers in their order, except the client itself. `all`: every client has one session with every \
                  server.",
            kind: Pairs::KIND,
            default: Some("random"),
        },
        Param {
            name: "sessions",
            doc: "Number of sessions; by default one for each client. Not allowed if `pairs` is `all`.",
            kind: Kind::Count { min: 1, max: MOST_SESSIONS },
            default: Some(""),
        },
        Param { name: "request", doc: "Payload of a request.", kind: Kind::Size { min: 1 }, default: Some("200B") },
        Param {
            name: "reply",
            doc: "Payload of a reply: a size, or a distribution as in `sizes` of `poisson`.",
            kind: Kind::Sizes(SIZES),
            default: None,
        },
        Param {
            name: "requests",
            doc: "Number of requests of a session; unlimited by default.",
            kind: Kind::Count { min: 1, max: 1_000_000_000 },
            default: Some(""),
        },
        Param {
            name: "think",
            doc: "Time from the last byte of a reply to the next request; 0 if neither this nor `clock` is given.",
            kind: Kind::Time { min: 0 },
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
            kind: Kind::Time { min: 1 },
            default: Some(""),
        },
        SERVICE,
        SERVICE_JITTER,
        Param {
            name: "connection",
            doc: "Connections of a session. `persistent`: one in each direction, whose windows and timers continue \
                  from message to message. `new`: one for every message.",
            kind: Connection::KIND,
            default: Some("persistent"),
        },
        START,
        STOP,
        Param {
            name: "jitter",
            doc: "Largest delay of the start of a session, drawn uniformly from 0 up.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        CLASS,
    ],
};

/// Largest number of sessions of a workload; each has its cursor, its draws and up to two connections.
const MOST_SESSIONS: u64 = 200_000;

/// Time of the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// Fixed time after the reply.
    Think(Dur),
    /// Exponential time after the reply, with this mean in picoseconds.
    Exponential(f64),
    /// Fixed time after the request.
    Clock(Dur),
}

choice! {
    /// Selection of the servers of sessions.
    enum Pairs {
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
    pairs: Pairs,
    sessions: u64,
    request: u64,
    reply: Arc<Sizes>,
    requests: u64,
    pace: Pace,
    service: Service,
    persistent: bool,
    start: Time,
    stop: Time,
}

impl Sessions {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Sessions, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = window(values, ctx, &mut faults);
        let pace = pace(values, &mut faults);
        let mut listed = |field| each_once(ctx, field, values).map_err(|more| faults.extend(more)).unwrap_or_default();
        let (mut clients, servers) = (listed("clients"), listed("servers"));
        let reply = Sizes::read("reply", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        let pairs = values.get("pairs");
        let Some(reply) = reply.filter(|_| faults.is_empty()) else { return Err(faults) };
        let lonely = |client: &HostId| servers.iter().all(|server| server == client);
        if !values.has("clients") {
            clients.retain(|client| !lonely(client));
        }
        let lonely = clients.iter().find(|client| lonely(client));
        if let Some(HostId(client)) = lonely {
            let found = format!("no server for `{}` but itself", ctx.topology.nodes[*client as usize].name);
            return Err(vec![fault("servers", found, "a server other than the client for every client")]);
        }
        let sessions = number(values, pairs, &clients, &servers)?;
        Ok(Sessions {
            clients,
            servers,
            pairs,
            sessions,
            request: values.size("request"),
            reply: Arc::new(reply),
            requests: if values.has("requests") { values.count("requests") } else { u64::MAX },
            pace,
            service: Service::from_values(values),
            persistent: values.get::<Connection>("connection") == Connection::Persistent,
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
            Pace::Clock(time) => (span / time.0 as f64).ceil().min(self.requests as f64),
            _ => 1.0,
        };
        2.0 * requests * self.sessions as f64
    }

    /// Returns the number of requests that start within a time, and the larger of the mean payloads of request and
    /// reply.
    pub fn at_once(&self, within: Dur) -> (f64, f64) {
        (self.flows_before(self.start.saturating_add(within)) / 2.0, self.reply.mean().max(self.request as f64))
    }

    /// Returns the first request of every session, or all requests if they follow a clock.
    pub fn all(&self, workload: u16, seed: u64, jitter: Dur) -> impl Iterator<Item = Session> + use<> {
        let plan = Arc::new(self.plan(workload, 0, seed));
        (0..self.sessions as u32).map(move |session| {
            let mut late = plan.draws.stream(session, What::Jitter, 0);
            let late = if jitter == Dur::ZERO { 0 } else { late.below(jitter.0) };
            Session { next: plan.of.start.saturating_add(Dur(late)), plan: plan.clone(), session, n: 0 }
        })
    }

    pub fn replies(&self, workload: u16, class: u8, seed: u64) -> Replies {
        Replies(Arc::new(self.plan(workload, class, seed)))
    }

    fn plan(&self, workload: u16, class: u8, seed: u64) -> Plan {
        let draws = Stream::new(seed, common::QUERY_HOSTS, Purpose::Traffic(workload));
        let ends = match self.pairs {
            Pairs::All => {
                let pairs = self.clients.iter().flat_map(|c| self.servers.iter().map(move |s| (*c, *s)));
                pairs.filter(|(client, server)| client != server).collect()
            }
            _ => (0..self.sessions).map(|session| self.ends(session, draws.clone().at(session))).collect(),
        };
        Plan { of: self.clone(), ends, draws: Draws { seed, workload }, class }
    }

    /// Returns the client and the server of a session. PRECONDITION: some server is not the client.
    fn ends(&self, session: u64, mut draws: Stream) -> (HostId, HostId) {
        let (clients, servers) = (&self.clients, &self.servers);
        let client = clients[(session % clients.len() as u64) as usize];
        let mut at = session % servers.len() as u64;
        loop {
            if self.pairs == Pairs::Random {
                at = draws.below(servers.len() as u64);
            }
            let server = servers[at as usize];
            if server != client {
                return (client, server);
            }
            at = (at + 1) % servers.len() as u64;
        }
    }
}

fn pace(values: &Values, faults: &mut Vec<Fault>) -> Pace {
    let (think, exponential) = (values.has("think"), values.get::<ThinkGaps>("think_gaps") == ThinkGaps::Exponential);
    if values.has("clock") {
        if think {
            let found = values.time("clock").to_string();
            faults.push(fault("clock", found, "no value if `think` is given"));
        }
        if exponential {
            faults.push(fault("think_gaps", "`exponential`", "no value if `clock` is given"));
        }
        return Pace::Clock(values.time("clock"));
    }
    if exponential && !think {
        faults.push(fault("think_gaps", "`exponential`", "no value if `think` is not given"));
    }
    let think = if think { values.time("think") } else { Dur::ZERO };
    if exponential { Pace::Exponential(think.0 as f64) } else { Pace::Think(think) }
}

fn number(values: &Values, pairs: Pairs, clients: &[HostId], servers: &[HostId]) -> Result<u64, Vec<Fault>> {
    if pairs != Pairs::All {
        return Ok(if values.has("sessions") { values.count("sessions") } else { clients.len() as u64 });
    }
    if values.has("sessions") {
        let found = values.count("sessions").to_string();
        return Err(vec![fault("sessions", found, "no value if `pairs` is `all`")]);
    }
    let both = clients.iter().filter(|client| servers.contains(client)).count() as u64;
    let sessions = clients.len() as u64 * servers.len() as u64 - both;
    let found = || format!("`all`, which makes {sessions} sessions");
    let rule = || format!("at most {MOST_SESSIONS} sessions");
    if sessions > MOST_SESSIONS { Err(vec![fault("pairs", found(), rule())]) } else { Ok(sessions) }
}

/// Data shared by all sessions of a workload.
#[derive(Clone, Debug)]
struct Plan {
    of: Sessions,
    ends: Vec<(HostId, HostId)>,
    draws: Draws,
    class: u8,
}

impl Plan {
    /// Returns the query number of a session's `n`-th request; `None` if there is no such request.
    fn query(&self, session: u32, n: u64) -> Option<u32> {
        let query = n.checked_mul(self.of.sessions)?.checked_add(u64::from(session))?;
        u32::try_from(query).ok().filter(|query| n < self.of.requests && *query < u32::MAX)
    }

    fn connection(&self, session: u32, role: Role) -> u32 {
        if self.of.persistent { 2 * session + u32::from(role == Role::Data) } else { OWN }
    }

    fn request(&self, session: u32, n: u64) -> Option<Draft> {
        let (client, server) = self.ends[session as usize];
        Some(Draft {
            role: Role::Request,
            tag: n,
            connection: self.connection(session, Role::Request),
            ..Draft::data(client, server, self.of.request, self.query(session, n)?)
        })
    }

    fn reply(&self, session: u32, n: u64) -> Option<Draft> {
        let (client, server) = self.ends[session as usize];
        let bytes = self.of.reply.quantile(self.draws.stream(session, What::Size, n).unit());
        Some(Draft {
            tag: n,
            connection: self.connection(session, Role::Data),
            ..Draft::data(server, client, bytes, self.query(session, n)?)
        })
    }

    /// Returns the time from a session's `n`-th reply to its next request; `None` if requests follow a clock.
    fn think(&self, session: u32, n: u64) -> Option<Dur> {
        match self.of.pace {
            Pace::Think(time) => Some(time),
            Pace::Exponential(mean) => Some(rounded(self.draws.stream(session, What::Think, n).exponential(mean))),
            Pace::Clock(_) => None,
        }
    }
}

/// Requests of a session that do not depend on replies.
#[derive(Clone, Debug)]
pub(super) struct Session {
    plan: Arc<Plan>,
    session: u32,
    next: Time,
    n: u64,
}

impl Session {
    pub fn next(&self) -> Time {
        let more = self.next < self.plan.of.stop && self.plan.query(self.session, self.n).is_some();
        if more { self.next } else { Time::NEVER }
    }

    pub fn take(&mut self, out: &mut Vec<Draft>) {
        out.extend(self.plan.request(self.session, self.n));
        self.n += 1;
        self.next = match self.plan.of.pace {
            Pace::Clock(time) => self.next.saturating_add(time),
            _ => Time::NEVER,
        };
    }
}

/// Source of replies to requests, and of requests after replies.
#[derive(Clone, Debug)]
pub struct Replies(Arc<Plan>);

impl Replies {
    pub(super) fn delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        let (plan, n) = (&self.0, message.tag);
        let session = (u64::from(message.query) % plan.of.sessions) as u32;
        let (after, draft) = match message.role {
            Role::Request => {
                let service = plan.of.service.draw(|| plan.draws.stream(session, What::Service, n));
                (Some(service), plan.reply(session, n))
            }
            Role::Data => (plan.think(session, n), plan.request(session, n + 1)),
        };
        let Some((start, draft)) = after.map(|after| now.saturating_add(after)).zip(draft) else { return };
        // A request that was sent is answered even after `stop`, but no new request is sent.
        if draft.role == Role::Data || start < plan.of.stop {
            out.push(draft.at(start, message.traffic, plan.class));
        }
    }
}
