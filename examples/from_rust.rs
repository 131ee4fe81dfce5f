//! Run of a scenario from Rust, with a line for each variant:
//! `cargo run --release -p overspill-sim --example from_rust [SCENARIO]`.

use scenario::{Source, load};
use sim::{Options, Recorder, build};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or("scenarios/incast.toml".to_string());
    let source = Source::read(Path::new(&path)).map_err(|fault| fault.to_string())?;
    let loaded = load(&source, &[]).map_err(|faults| faults[0].to_string())?;
    for scenario in &loaded.variants {
        let mut world = build(scenario, loaded.seed, Options::default(), Recorder::from_scenario(scenario))?;
        world.run();
        let results = world.results(scenario);
        let flows = results.table("flows").ok_or("every run has a table of flows")?;
        let times = |name| flows.u64(name).ok_or("a time is a 64-bit number");
        let completion = times("end_ps")?.iter().zip(times("start_ps")?).filter(|(end, _)| **end < u64::MAX);
        let longest = completion.map(|(end, start)| end - start).max().unwrap_or(0);
        println!("{}: the last flow took {:.3} ms", scenario.variant, longest as f64 / 1e9);
    }
    Ok(())
}
