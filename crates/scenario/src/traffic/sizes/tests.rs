use super::*;
use crate::topology::tests::values;

fn shape(kind: &str, given: &[(&str, &str)]) -> Result<Sizes, String> {
    let spec = SPECS.iter().find(|spec| spec.kind == kind).unwrap();
    let told = |f: Fault| format!("{}: {}; {}", f.field, f.found, f.rule);
    shapes::build(kind, &values(spec, given)).map(Sizes).map_err(told)
}

/// Returns the mean of a function of flow sizes, sampled at the middles of equal shares of flows.
fn mean_of(sizes: &Sizes, of: impl Fn(u64) -> f64) -> f64 {
    let n = 200_000u64;
    (0..n).map(|i| of(sizes.quantile((i as f64 + 0.5) / n as f64))).sum::<f64>() / n as f64
}

#[test]
fn abqs_pareto_has_the_mean_that_it_is_given_and_a_smallest_size_of_a_sixth() {
    let sizes = shape("pareto", &[("shape", "1.2"), ("mean", "50KB")]).unwrap();
    assert!((sizes.mean_bytes() - 50_000.0).abs() < 1e-6);
    // The smallest size is 50000 × 0.2 / 1.2 = 8333.3. Half of all sizes are below 8333.3 × 2^(1/1.2), and 1 in 4096 is
    // above 8333.3 × 2^10.
    assert_eq!(sizes.quantile(0.0), 8_333);
    assert_eq!(sizes.quantile(0.5), 14_848);
    assert_eq!(sizes.quantile(1.0 - 1.0 / 4096.0), 8_533_333);
    let least = shape("pareto", &[("shape", "2"), ("mean", "2B")]).unwrap();
    assert_eq!(least.quantile(0.0), 1, "one byte is a size");
}

#[test]
fn pareto_quantiles_match_exact_powers() {
    let plain = shape("pareto", &[("shape", "2"), ("scale", "1KB")]).unwrap();
    // 1000 / sqrt(1 - u)
    assert_eq!([0.0, 0.75, 0.9375, 0.99].map(|u| plain.quantile(u)), [1000, 2000, 4000, 10_000]);
    assert_eq!(plain.mean_bytes(), 2000.0);
    // Without the bound of 4 KB, 1/16 of the sizes would be above it. The quantile is thus 1000 / sqrt(1 - u 15/16),
    // and the mean 2 (1 - 1/4) / (15/16) KB.
    let bounded = shape("pareto", &[("shape", "2"), ("scale", "1KB"), ("max", "4KB")]).unwrap();
    assert_eq!([0.0, 0.8, 1.0].map(|u| bounded.quantile(u)), [1000, 2000, 4000]);
    assert!((bounded.mean_bytes() - 1600.0).abs() < 1e-9, "{}", bounded.mean_bytes());
    // For shape 1 the mean is scale ln(max/scale) / (1 - scale/max).
    let log = shape("pareto", &[("shape", "1"), ("scale", "1KB"), ("max", "8KB")]).unwrap();
    assert!((log.mean_bytes() - 1000.0 * 8f64.ln() / (7.0 / 8.0)).abs() < 1e-9);
    let heavy = shape("pareto", &[("shape", "1"), ("scale", "1KB")]).unwrap();
    assert_eq!((heavy.mean_bytes(), heavy.quantile(0.999)), (f64::INFINITY, 1_000_000));
    let heavier = shape("pareto", &[("shape", "0.1"), ("scale", "1KB")]).unwrap();
    assert_eq!(heavier.quantile(1.0 - f64::EPSILON), MAX_FLOW_BYTES);
}

#[test]
fn exponential_and_uniform_quantiles_match_formulas() {
    let exponential = shape("exponential", &[("mean", "1KB")]).unwrap();
    assert_eq!([0.0, 0.5, 0.75].map(|u| exponential.quantile(u)), [1, 693, 1386]);
    let uniform = shape("uniform", &[("min", "3B"), ("max", "6B")]).unwrap();
    assert_eq!([0.0, 0.2499, 0.25, 0.999].map(|u| uniform.quantile(u)), [3, 3, 4, 6]);
    assert_eq!(uniform.mean_bytes(), 4.5);
    assert_eq!(uniform.mean_segments(2), 2.5, "3 and 4 bytes take two, 5 and 6 three");
}

#[test]
fn closed_forms_of_means_and_segments_agree_with_the_quantiles() {
    let of = |kind, given: &[(&str, &str)]| shape(kind, given).unwrap();
    for sizes in [
        of("pareto", &[("shape", "3.5"), ("scale", "4KB")]),
        of("pareto", &[("shape", "1.2"), ("scale", "700B"), ("max", "900KB")]),
        of("pareto", &[("shape", "0.7"), ("scale", "2KB"), ("max", "1MB")]),
        of("pareto", &[("shape", "1"), ("mean", "30KB"), ("max", "200KB")]),
        of("pareto", &[("shape", "1.5"), ("scale", "100B"), ("max", "200B")]),
        of("exponential", &[("mean", "20KB")]),
        of("uniform", &[("min", "1B"), ("max", "40KB")]),
        Sizes(SizeShape::Fixed(14_600)),
        Sizes::parse("100 0.5\n20000 1").unwrap().0,
    ] {
        let mean = mean_of(&sizes, |size| size as f64);
        assert!((mean / sizes.mean_bytes() - 1.0).abs() < 2e-4, "{sizes:?}: {mean} for {}", sizes.mean_bytes());
        let (segments, closed) = (mean_of(&sizes, |size| size.div_ceil(1460) as f64), sizes.mean_segments(1460));
        assert!((segments / closed - 1.0).abs() < 1e-3, "{sizes:?}: {segments} for {closed}");
    }
}

#[test]
fn an_unbounded_tail_of_segments_is_summed_to_its_end() {
    // For shape 2 and a smallest size of one segment: 1 + the sum of 1/k², which is π²/6.
    let sizes = shape("pareto", &[("shape", "2"), ("scale", "1000B")]).unwrap();
    let expected = 1.0 + std::f64::consts::PI.powi(2) / 6.0;
    assert!((sizes.mean_segments(1000) - expected).abs() < 1e-9, "{}", sizes.mean_segments(1000));
}

#[test]
fn wire_bytes_count_every_segment_of_a_flow() {
    let framing = &Framing::ETHERNET;
    assert_eq!(Sizes(SizeShape::Fixed(14_600)).mean_wire_bytes(framing, 1460, 0), 15_380.0);
    assert_eq!(Sizes::parse("14600 1").unwrap().0.mean_wire_bytes(framing, 1460, 0), 15_380.0);
    let wide = Sizes(SizeShape::Points(SizePoints { points: tables::table_points("web_search").unwrap() }));
    let wire = mean_of(&wide, |bytes| bytes as f64 + bytes.div_ceil(1460) as f64 * 78.0);
    assert!((wire / wide.mean_wire_bytes(framing, 1460, 0) - 1.0).abs() < 1e-4);
}

#[test]
fn impossible_size_tables_are_refused() {
    let pareto = |given: &[(&str, &str)]| shape("pareto", given).unwrap_err();
    assert_eq!(pareto(&[("shape", "2")]), "scale: neither `scale` nor `mean`; one of the two");
    let both = [("shape", "2"), ("scale", "1KB"), ("mean", "2KB")];
    assert_eq!(pareto(&both), "mean: 2000B; no value if `scale` is given");
    assert_eq!(
        pareto(&[("shape", "1"), ("mean", "1KB")]),
        "shape: 1; a shape above 1, or the key `max`, because a \
                                                            mean is given"
    );
    assert_eq!(pareto(&[("shape", "2"), ("scale", "1KB"), ("max", "1KB")]), "scale: 1000B; less than max = 1000B");
    assert_eq!(
        pareto(&[("shape", "1"), ("mean", "2B"), ("max", "1MB")]),
        "mean: 2B; at least 14B, the mean if the smallest size is 1B"
    );
    let uniform = shape("uniform", &[("min", "2KB"), ("max", "1KB")]);
    assert_eq!(uniform.unwrap_err(), "min: 2000B; at most max = 1000B");
    let vast = shape("exponential", &[("mean", "2000000GB")]);
    assert_eq!(vast.unwrap_err(), "mean: 2000000000000000B; at most 1PB");
}
