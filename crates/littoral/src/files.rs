//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file aside, syncs it, and only then gives it its name: a reader, a power cut or a kill sees either
/// the old file or the new one.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let aside = aside(path);
    let mut writer = BufWriter::with_capacity(1 << 20, File::create(&aside)?);
    let written = write(&mut writer).and_then(|()| writer.flush()).and_then(|()| writer.get_ref().sync_all());
    drop(writer);
    if let Err(error) = written.and_then(|()| fs::rename(&aside, path)) {
        let _ = fs::remove_file(&aside); // what matters is the first error
        return Err(error);
    }
    sync_folder(path)
}

/// Where a file is written before it gets its name: hidden, and with another extension, so that nobody who
/// lists `*.arrow` finds it.
pub fn aside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}

/// Makes the new name itself survive a power cut.
fn sync_folder(path: &Path) -> io::Result<()> {
    // Only Unix can sync a folder, and elsewhere there is no need.
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Removes a file, which need not be there.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = std::env::temp_dir().join(format!("littoral-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.json");
        write_whole(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |file| {
            file.write_all(b"ne")?;
            Err(io::Error::other("out of luck"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_whole(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left aside");
        fs::remove_dir_all(&folder).unwrap();
    }
}
