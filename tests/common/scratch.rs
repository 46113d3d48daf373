//! A directory of a test's own, gone when the test is over.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory below the one cargo keeps for integration tests.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes an empty one.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("cargo's directory for tests takes another");
        Self { path }
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file and returns its path as text.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a scratch directory takes files");
        path.to_str().expect("cargo's directories have UTF-8 names").to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}
