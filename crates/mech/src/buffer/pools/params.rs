//! Declarations of the tables of `switch.buffer` with `kind = "pools"`.

use super::super::threshold;
use crate::params::{ParamKind, Spec, Value, Values};
use crate::{choice, params};
use units::{Bytes, Rate};

choice! {
    /// Side of a switch at which a pool counts frames.
    pub enum PoolSide {
        Ingress = "ingress",
        Egress = "egress",
    }
}

choice! {
    /// Parts of the memory that the size of a pool includes, besides the shared memory.
    pub enum SizeIncludes {
        Shared = "shared",
        Reserves = "reserves",
        Headroom = "reserves_and_headroom",
    }
}

choice! {
    /// Instant at which the memory of a departing frame becomes free.
    pub enum Release {
        Start = "start",
        End = "end",
    }
}

choice! {
    /// Changes of memory after which the limit of a lossless group is compared with its use.
    pub enum React {
        Own = "own",
        Pool = "pool",
    }
}

params! {
    /// Parameter values of `pools`.
    pub(crate) struct Params {
        cell: Bytes = {
            doc: "Size of a memory cell. A frame takes whole cells, so that sizes of accounts are multiples of it.",
            kind: ParamKind::Size { min: 1 },
            default: Some("1B"),
        },
        slices: u64 = {
            doc: "Number of slices. The pools are divided evenly among them, and every account exists once per slice.",
            kind: ParamKind::Count { min: 1, max: 64 },
            default: Some("1"),
        },
        pipes: Vec<u64> = {
            doc: "Pipe of each port, in the order of port numbers. Ports left out are in pipe 0, and numbers beyond the \
                  last port have no effect. Pipes above 0 need `slice_of`.",
            kind: ParamKind::Counts { min: 0, max: 63 },
            default: Some("[]"),
        },
        slice_of: Vec<u64> = {
            doc: "Slice of a frame by its input pipe and its output pipe: for input pipe 0 the slices of all output \
                  pipes, then for input pipe 1, and so on. With one slice it may be left out.",
            kind: ParamKind::Counts { min: 0, max: 63 },
            default: Some("[]"),
        },
        size_includes: SizeIncludes = {
            doc: "Memory that the `size` of a pool includes: `shared` memory alone, shared memory and `reserves`, or \
                  shared memory, reserves and headroom.",
            kind: SizeIncludes::KIND,
            default: Some("shared"),
        },
        release: Release = {
            doc: "Instant at which the memory of a frame becomes free: at the start or the end of its transmission.",
            kind: Release::KIND,
            default: Some("start"),
        },
        react: React = {
            doc: "Changes after which the switch compares a lossless group with its limit: those of its own memory \
                  (`own`), or all changes of its pool (`pool`).",
            kind: React::KIND,
            default: Some("own"),
        },
        worst_frame: Bytes = {
            doc: "Smallest frame size that computed headroom covers. From this size on, the switch takes the size with \
                  the most cells per byte on the wire.",
            kind: ParamKind::Size { min: 64 },
            default: Some("64B"),
        },
        class_to_group: Vec<u64> = {
            doc: "Priority group of each traffic class, from class 0 to class 7.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: Some("[0, 1, 2, 3, 4, 5, 6, 7]"),
        },
        class_to_queue: Vec<u64> = {
            doc: "Queue of each traffic class, from class 0 to class 7.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: Some("[0, 1, 2, 3, 4, 5, 6, 7]"),
        },
        pools: Vec<(String, Values)> = {
            doc: "Pools of shared memory by name.",
            kind: ParamKind::Named(&POOL),
            default: None,
        },
        profiles: Vec<(String, Values)> = {
            doc: "Profiles of groups and queues by name.",
            kind: ParamKind::Named(&PROFILE),
            default: None,
        },
        groups: Option<Vec<Values>> = {
            doc: "Profiles of priority groups. A later entry overrides an earlier one.",
            kind: ParamKind::List(&GROUPS),
            default: Some(""),
        },
        queues: Option<Vec<Values>> = {
            doc: "Profiles of queues. A later entry overrides an earlier one.",
            kind: ParamKind::List(&QUEUES),
            default: Some(""),
        },
    }
}

params! {
    /// Parameter values of one pool.
    pub(super) struct PoolParams {
        side: PoolSide = {
            doc: "Side at which the pool counts frames: `ingress` by priority group, `egress` by queue.",
            kind: PoolSide::KIND,
            default: None,
        },
        size: Bytes = {
            doc: "Size of the pool over all slices. `size_includes` says if reserves and headroom are part of it.",
            kind: ParamKind::Size { min: 64 },
            default: None,
        },
        headroom: Option<Bytes> = {
            doc: "Size of the headroom that the groups of the pool share, over all slices. Left out: the headroom of \
                  each group is its own.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
        over_subscribe_ratio: Option<f64> = {
            doc: "Ratio of the headroom of all lossless groups to the shared headroom, instead of `headroom`.",
            kind: ParamKind::Number { min: 1.0, max: 1e6, below_max: false },
            default: Some(""),
        },
    }
}

params! {
    /// Parameter values of one profile.
    pub(super) struct ProfileParams {
        pool: String = { doc: "Name of the pool.", kind: ParamKind::Text, default: None },
        reserve: Bytes = {
            doc: "Memory reserved for each account, used first.",
            kind: ParamKind::Size { min: 0 },
            default: Some("0B"),
        },
        threshold: Option<Threshold> = {
            doc: "Limit of the shared memory that an account may use. Left out: only the size of the pool limits it.",
            kind: ParamKind::Table(threshold::SPECS),
            default: Some(""),
        },
        lossless: bool = {
            doc: "Makes groups lossless: they have headroom, and PFC pauses their classes at the far end.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        xoff: Option<Bytes> = {
            doc: "Headroom of a lossless group. Left out: computed for each port from rate, delay, frame size and \
                  response time.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
        xon: Option<Bytes> = {
            doc: "Use beyond the reserve at or below which a paused group is always resumed. The default is 0.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
        xon_offset: Option<Bytes> = {
            doc: "Distance below the limit. A paused group is resumed if its use beyond the reserve is at most the \
                  limit less this distance. The default is 0.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
    }
}

params! {
    /// Parameter values of an entry of `groups`.
    pub(super) struct GroupParams {
        group: Vec<u64> = {
            doc: "Numbers of the priority groups.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: None,
        },
        profile: String = { doc: "Name of the profile.", kind: ParamKind::Text, default: None },
        ports: Option<Vec<u64>> = {
            doc: "Input ports to which the entry applies. The default is all.",
            kind: ParamKind::Counts { min: 0, max: 65_535 },
            default: Some(""),
        },
        rate: Option<Rate> = {
            doc: "Link rate of the ports to which the entry applies. The default is any.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
    }
}

params! {
    /// Parameter values of an entry of `queues`.
    pub(super) struct QueueParams {
        queue: Vec<u64> = {
            doc: "Numbers of the queues.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: None,
        },
        profile: String = { doc: "Name of the profile.", kind: ParamKind::Text, default: None },
        ports: Option<Vec<u64>> = {
            doc: "Output ports to which the entry applies. The default is all.",
            kind: ParamKind::Counts { min: 0, max: 65_535 },
            default: Some(""),
        },
        rate: Option<Rate> = {
            doc: "Link rate of the ports to which the entry applies. The default is any.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
    }
}

/// Kind and parameters of a threshold as given in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Threshold(pub(super) String, pub(super) Values);

impl crate::params::ParamType for Threshold {
    fn from_values(values: &Values, name: &str) -> Threshold {
        match values.0.get(name) {
            Some(Value::Table(kind, given)) => Threshold(kind.clone(), given.clone()),
            other => panic!("parameter `{name}` is not a declared table: {other:?}"),
        }
    }
}

pub(super) static POOL: Spec = Spec {
    slot: "switch.buffer.pools.NAME",
    kind: "",
    doc: "Pool of shared memory of a switch.",
    cite: "SAI buffer pool",
    params: PoolParams::PARAMS,
};

pub(super) static PROFILE: Spec = Spec {
    slot: "switch.buffer.profiles.NAME",
    kind: "",
    doc: "Profile of priority groups or queues.",
    cite: "SAI buffer profile",
    params: ProfileParams::PARAMS,
};

pub(super) static GROUPS: Spec = Spec {
    slot: "switch.buffer.groups",
    kind: "",
    doc: "Profile of one or more priority groups.",
    cite: "",
    params: GroupParams::PARAMS,
};

pub(super) static QUEUES: Spec = Spec {
    slot: "switch.buffer.queues",
    kind: "",
    doc: "Profile of one or more queues.",
    cite: "",
    params: QueueParams::PARAMS,
};
