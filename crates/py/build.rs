//! Copies papers and example scenarios to the folder from which maturin takes them into the wheel: `overspill/shipped`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of the repository that the wheel carries.
const SHIPPED_FOLDERS: [&str; 2] = ["papers", "scenarios"];

/// Extensions of pictures; they stay in the repository.
const OMITTED_EXTENSIONS: [&str; 3] = ["png", "svg", "pdf"];

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=build.rs");
    for name in SHIPPED_FOLDERS {
        let (from, to) = (root.join(name), target.join(name));
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        // A package of this crate alone has no such folder. For a missing path, Cargo would run this at every build.
        if from.exists() {
            println!("cargo::rerun-if-changed={}", from.display());
            copy_shipped_files(&from, &to)?;
        }
    }
    Ok(())
}

fn copy_shipped_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().expect("an entry has a name");
        if path.is_dir() && name != "__pycache__" {
            copy_shipped_files(&path, &to.join(name))?;
        } else if path.is_file()
            && !path.extension().is_some_and(|kind| OMITTED_EXTENSIONS.iter().any(|one| kind == *one))
        {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
