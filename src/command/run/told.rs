//! Files that tell other programs where the proxy is: there while it is true, and never half written.
//!
//! The one rule: only a regular file is ever replaced or removed, and at the end only one that is still ours.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::cli::RunArgs;

/// A file that holds the proxy's URL, removed on drop.
#[derive(Debug)]
pub(super) struct Told {
    path: PathBuf,
    text: String,
}

/// Removes what an earlier run may have left, so that nobody reads it for this one's. Returns what is in the way.
pub(super) fn clear(args: &RunArgs) -> Result<(), String> {
    let files = [("url-file", &args.url_file), ("ready-file", &args.ready_file)];
    for (option, path) in files.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?))) {
        remove(path).map_err(|error| format!("--{option} {}: {error}", path.display()))?;
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() => Err(io::Error::new(ErrorKind::InvalidInput, "it is there and is no file")),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

impl Told {
    /// Writes the URL beside the file and gives it the file's name: whoever sees it sees it whole.
    pub(super) fn write(path: &Path, url: &str) -> io::Result<Self> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.part", std::process::id()));
        let text = format!("{url}\n");
        fs::write(&beside, &text)?;
        if let Err(error) = fs::rename(&beside, path) {
            // It is not there under either name then, or in the way of nobody.
            let _ = fs::remove_file(&beside);
            return Err(error);
        }
        Ok(Self { path: path.to_owned(), text })
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            // Where it cannot be removed nothing can be done about it.
            let _ = fs::remove_file(&self.path);
        }
    }
}
