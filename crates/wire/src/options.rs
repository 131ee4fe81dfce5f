//! TCP options in the order and with the padding that stacks give them.

use dataplane::Ext;
use etherparse::{TcpOptionElement, TcpOptions};

const PAD: TcpOptionElement = TcpOptionElement::Noop;

/// The options of an extension: as many bytes as [`Ext::bytes`] says. What does not fit 40 bytes,
/// which no transport makes, is left out.
pub(crate) fn options(ext: &Ext) -> TcpOptions {
    let mut list = Vec::with_capacity(12);
    let sack_permitted = ext.syn.is_some_and(|syn| syn.sack_permitted);
    list.extend(ext.syn.map(|syn| TcpOptionElement::MaximumSegmentSize(syn.mss)));
    if let Some(stamps) = ext.timestamps {
        let first =
            if sack_permitted { vec![TcpOptionElement::SelectiveAcknowledgementPermitted] } else { vec![PAD, PAD] };
        list.extend(first);
        list.push(TcpOptionElement::Timestamp(stamps.val, stamps.ecr));
    } else if sack_permitted {
        list.extend([PAD, PAD, TcpOptionElement::SelectiveAcknowledgementPermitted]);
    }
    if let Some(scale) = ext.syn.and_then(|syn| syn.window_scale) {
        list.extend([PAD, TcpOptionElement::WindowScale(scale)]);
    }
    if let [first, rest @ ..] = &ext.sack[..usize::from(ext.blocks)] {
        let mut more = [None; 3];
        more.iter_mut().zip(rest).for_each(|(place, block)| *place = Some(*block));
        list.extend([PAD, PAD, TcpOptionElement::SelectiveAcknowledgement(*first, more)]);
    }
    TcpOptions::try_from_elements(&list).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataplane::{SynOptions, Timestamps};

    const STAMPS: Timestamps = Timestamps { val: 0x0102_0304, ecr: 0x0506_0708 };

    fn bytes(ext: Ext) -> Vec<u8> {
        let made = options(&ext);
        assert_eq!(made.as_slice().len(), usize::from(ext.bytes()), "{ext:?}");
        made.as_slice().to_vec()
    }

    #[test]
    fn a_syn_offers_in_twenty_bytes() {
        let syn = Some(SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true });
        let expected = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7];
        assert_eq!(bytes(Ext { syn, timestamps: Some(STAMPS), ..Ext::default() }), expected);
        assert_eq!(bytes(Ext { syn, ..Ext::default() }), [2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]);
    }

    #[test]
    fn blocks_follow_timestamps() {
        let mut ext = Ext { blocks: 2, timestamps: Some(STAMPS), ..Ext::default() };
        ext.sack[0] = (0x100, 0x200);
        ext.sack[1] = (0x300, 0x400);
        let mut expected = vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 18];
        expected.extend([0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0]);
        assert_eq!(bytes(ext), expected);
    }

    #[test]
    fn every_set_of_options_is_as_long_as_the_simulation_says() {
        for (stamps, scale, sack, mss) in (0..16).map(|n| (n & 1 > 0, n & 2 > 0, n & 4 > 0, n & 8 > 0)) {
            let window_scale = scale.then_some(14);
            let syn = mss.then_some(SynOptions { mss: 9000, window_scale, sack_permitted: sack });
            bytes(Ext { timestamps: stamps.then_some(STAMPS), syn, ..Ext::default() });
            let most = if stamps { 3 } else { 4 };
            (0..=most).for_each(|blocks| {
                bytes(Ext { timestamps: stamps.then_some(STAMPS), blocks, ..Ext::default() });
            });
        }
    }
}
