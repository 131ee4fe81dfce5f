use super::*;
use crate::random_frames::{any_blocks, any_timestamps};
use dataplane::SynOptions;
use property::for_all;
use proptest::option;
use proptest::prelude::any;

const STAMPS: Timestamps = Timestamps { val: 0x0102_0304, ecr: 0x0506_0708 };

fn bytes(ext: PacketExtension) -> Vec<u8> {
    let made = TcpOptions::from_ext(&ext).to_bytes();
    assert_eq!(made.len(), usize::from(ext.option_bytes()), "{ext:?}");
    made
}

#[test]
fn syn_options_are_the_expected_bytes() {
    let syn = Some(SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true, pack_permitted: false });
    let expected = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7];
    assert_eq!(bytes(PacketExtension { syn, timestamps: Some(STAMPS), ..PacketExtension::default() }), expected);
    assert_eq!(
        bytes(PacketExtension { syn, ..PacketExtension::default() }),
        [2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]
    );
}

#[test]
fn pack_is_permitted_beside_sack_and_timestamps() {
    let pack = TcpOptions { pack_permitted: true, ..TcpOptions::default() };
    assert_eq!(pack.to_bytes(), [1, 1, 253, 2]);
    assert_eq!(TcpOptions { sack_permitted: true, ..pack }.to_bytes(), [4, 2, 253, 2]);
    let stamped = TcpOptions { timestamps: Some(STAMPS), ..pack };
    assert_eq!(stamped.to_bytes(), [253, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
    let all = TcpOptions { sack_permitted: true, ..stamped };
    assert_eq!(all.to_bytes(), [1, 1, 4, 2, 253, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn sack_blocks_follow_timestamps() {
    let mut ext = PacketExtension { blocks: 2, timestamps: Some(STAMPS), ..PacketExtension::default() };
    ext.sack[0] = (0x100, 0x200);
    ext.sack[1] = (0x300, 0x400);
    let mut expected = vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 18];
    expected.extend([0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0]);
    assert_eq!(bytes(ext), expected);
}

#[test]
fn options_have_their_simulated_length() {
    for (stamps, scale, sack, mss) in (0..16).map(|n| (n & 1 > 0, n & 2 > 0, n & 4 > 0, n & 8 > 0)) {
        let window_scale = scale.then_some(14);
        let syn = mss.then_some(SynOptions { mss: 9000, window_scale, sack_permitted: sack, pack_permitted: false });
        bytes(PacketExtension { timestamps: stamps.then_some(STAMPS), syn, ..PacketExtension::default() });
        let most = if stamps { 3 } else { 4 };
        (0..=most).for_each(|blocks| {
            bytes(PacketExtension { timestamps: stamps.then_some(STAMPS), blocks, ..PacketExtension::default() });
        });
    }
}

#[test]
fn reported_loss_is_first_and_displaces_the_last_block() {
    let lost = LostRange { left: 1000, right: 2448 };
    let mut options = TcpOptions { timestamps: Some(STAMPS), ..TcpOptions::default() };
    options.report_loss(lost);
    assert_eq!((options.blocks(), options.lost_range()), (&[(2448, 1000)][..], Some(lost)));
    (options.sack[1], options.sack[2], options.blocks) = ((10, 20), (30, 40), 3);
    let later = LostRange { left: 5000, right: 6448 };
    options.report_loss(later);
    assert_eq!(options.blocks(), [(6448, 5000), (2448, 1000), (10, 20)]);
    assert_eq!(options.to_bytes().len(), 40);
    options.timestamps = None;
    options.report_loss(lost);
    assert_eq!(options.blocks(), [(2448, 1000), (6448, 5000), (2448, 1000), (10, 20)]);
    assert_eq!(options.to_bytes().len(), 36);
}

#[test]
fn only_a_swapped_first_block_reports_a_loss() {
    let mut options = TcpOptions { blocks: 2, ..TcpOptions::default() };
    (options.sack[0], options.sack[1]) = ((10, 20), (40, 30));
    assert_eq!(options.lost_range(), None);
    assert_eq!(TcpOptions { blocks: 0, sack: [(20, 10); 4], ..options }.lost_range(), None);
}

#[test]
fn options_read_back_as_they_were_written() {
    let words = (option::of(any::<u16>()), option::of(any::<u8>()), any::<(bool, bool)>());
    for_all(5000, (words, any_timestamps(), any_blocks(5)), |(words, timestamps, (blocks, sack))| {
        let (mss, window_scale, (sack_permitted, pack_permitted)) = words;
        let drawn = TcpOptions { mss, window_scale, sack_permitted, pack_permitted, timestamps, blocks, sack };
        let bytes = drawn.to_bytes();
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(bytes.len(), usize::from(drawn.padded_length()));
        assert_eq!(TcpOptions::read(&bytes), Ok(drawn));
    });
}

#[test]
fn unknown_options_and_bytes_after_end_are_ignored() {
    let stamps = TcpOptions { timestamps: Some(STAMPS), ..TcpOptions::default() };
    let bytes = stamps.to_bytes();
    let fast_open = [34, 6, 1, 2, 3, 4];
    assert_eq!(TcpOptions::read(&[&fast_open[..], &bytes].concat()), Ok(stamps));
    let experiment = [253, 4, 0xf9, 0x89];
    assert_eq!(TcpOptions::read(&[&experiment[..], &bytes].concat()), Ok(stamps), "one with an identifier");
    assert_eq!(TcpOptions::read(&[&bytes[..], &[0, 5, 1]].concat()), Ok(stamps));
    assert_eq!(TcpOptions::read(&[2, 4, 0, 1, 2, 4, 0, 2]).unwrap().mss, Some(2), "the last of two");
}

#[test]
fn option_of_wrong_length_is_refused_with_its_offset() {
    let wrong: &[(&[u8], u8, usize)] = &[
        (&[1, 2], 2, 1),
        (&[1, 1, 2, 0, 0, 0], 2, 2),
        (&[8, 1], 8, 0),
        (&[2, 3, 0], 2, 0),
        (&[3, 4, 0, 0], 3, 0),
        (&[4, 3, 0], 4, 0),
        (&[8, 9, 0, 0, 0, 0, 0, 0, 0], 8, 0),
        (&[5, 2], 5, 0),
        (&[1, 5, 9, 0, 0, 0, 0, 0, 0, 0], 5, 1),
        (&[5, 10, 0, 0, 0, 0, 0, 0, 0], 5, 0),
        (&[99, 200], 99, 0),
        (&[99, 0, 1, 1], 99, 0),
        (&[1, 99, 1, 1], 99, 1),
    ];
    for &(bytes, kind, at) in wrong {
        assert_eq!(TcpOptions::read(bytes), Err(Malformed::Option { kind, at }), "{bytes:?}");
    }
}
