//! Transports: senders and receivers as machines that are told of packets and of time.
