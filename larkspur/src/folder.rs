//! The texts of `%import` in folders of the disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use larkspur_lark_frontend::{ModuleResolver, ModuleText, Modules};

/// Files below a folder, and below search paths. A path that leads out of them, also through a symbolic link, is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder {
    /// The grammar's folder, then the search paths.
    roots: Vec<PathBuf>,
}

impl Folder {
    /// The folder `root`, where relative imports begin.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { roots: vec![root.into()] }
    }
    /// The folder in which the grammar's file is.
    pub fn beside(file: impl AsRef<Path>) -> Self {
        Self::new(file.as_ref().parent().unwrap_or(Path::new("")))
    }
    /// With a folder that every import is sought in first, and absolute imports only.
    pub fn search(mut self, path: impl Into<PathBuf>) -> Self {
        self.roots.push(path.into());
        self
    }
}

impl From<Folder> for Modules {
    fn from(folder: Folder) -> Self {
        Modules::new(folder)
    }
}

impl ModuleResolver for Folder {
    fn roots(&self) -> usize {
        self.roots.len()
    }

    fn load(&self, root: usize, path: &str) -> Result<Option<ModuleText>, String> {
        let root = &self.roots[root];
        let shown = root.join(path);
        let folder = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let found = (folder.canonicalize()).and_then(|root| Ok((shown.canonicalize()?, root)));
        let (file, root) = match found {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if !file.starts_with(&root) {
            return Err("it leads out of its folder".to_string());
        }
        if !file.is_file() {
            return Err("it is not a file".to_string());
        }
        let bytes = fs::read(&file).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
        Ok(Some(ModuleText { name: shown.display().to_string(), text }))
    }
}
