//! Copies the papers to the folder from which maturin takes them into the wheel: `overspill/shipped/papers`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Extensions of the files that the paper command reads; pictures and tests stay in the repository.
const SHIPPED_EXTENSIONS: [&str; 6] = ["toml", "csv", "py", "json", "md", "gz"];

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../papers");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("papers");
    println!("cargo::rerun-if-changed={}", root.display());
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    // A source package of this crate alone has no `papers` folder, and must still build.
    if root.exists() { copy_shipped_files(&root, &target) } else { Ok(()) }
}

fn copy_shipped_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().expect("an entry has a name");
        if path.is_dir() && name != "__pycache__" {
            copy_shipped_files(&path, &to.join(name))?;
        } else if path.extension().and_then(|kind| kind.to_str()).is_some_and(|kind| SHIPPED_EXTENSIONS.contains(&kind))
        {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
