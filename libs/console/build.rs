//! Builds the frontend in `web/` and lists its files for `src/assets.rs`.
//!
//! `CONSOLE` says what to do without npm: `auto` (when left out) builds without the console and warns,
//! `require` fails, and `skip` never builds it. Cargo runs this again only when something in `web/`
//! changed.
#![expect(clippy::unwrap_used, reason = "a build fails by panicking")]

use std::{
    env,
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// What the frontend is built from, beside this file.
const SOURCES: [&str; 8] = [
    "index.html",
    "package.json",
    "package-lock.json",
    "plugins",
    "src",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
];

fn main() {
    println!("cargo:rerun-if-env-changed=CONSOLE");
    println!("cargo:rerun-if-changed=build.rs");
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("web");
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", web.join(source).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let wish = env::var("CONSOLE").unwrap_or_else(|_| "auto".to_owned());
    let built = match wish.as_str() {
        "skip" => Err("CONSOLE=skip".to_owned()),
        "auto" | "require" => built(&web, &out.join("web")),
        other => panic!("CONSOLE is {other}, and can be auto, skip or require"),
    };
    if let Err(missing) = &built {
        assert_ne!(wish, "require", "the web console cannot be built: {missing}");
        if wish == "auto" {
            println!("cargo:warning=built without the web console: {missing}");
        }
    }
    let files = built.map(|()| listed(&out.join("web"))).unwrap_or_default();
    fs::write(out.join("files.rs"), table(&files)).unwrap();
}

/// Installs the packages if they are not those of the lock file, and builds. What is missing is an
/// error; a fault in the sources ends this build.
fn built(web: &Path, to: &Path) -> Result<(), String> {
    // Builds of several profiles share `node_modules`.
    let lock = File::create(web.join(".lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    install(web)?;
    let vite = Command::new("node")
        .args(["node_modules/vite/bin/vite.js", "build", "--logLevel", "warn", "--emptyOutDir"])
        .arg("--outDir")
        .arg(to)
        .current_dir(web)
        .status()
        .map_err(|error| format!("node does not start: {error}"))?;
    assert!(vite.success(), "`vite build` failed in {}", web.display());
    Ok(())
}

fn install(web: &Path) -> Result<(), String> {
    let wanted = fs::read(web.join("package-lock.json")).unwrap();
    let stamp = web.join("node_modules/.installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let npm = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"])
        .current_dir(web)
        .status()
        .map_err(|error| format!("npm does not start ({error}); install Node 20 or later"))?;
    if !npm.success() {
        return Err(format!("`npm ci` failed in {}", web.display()));
    }
    fs::write(stamp, wanted).map_err(|error| error.to_string())
}

/// The files of the frontend by their paths from its root, but for their compressed forms.
fn listed(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let compressed = path.extension().is_some_and(|end| end == "gz" || end == "br");
            if path.is_dir() {
                folders.push(path);
            } else if !compressed {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                files.push((name.replace('\\', "/"), path));
            }
        }
    }
    files.sort();
    files
}

fn table(files: &[(String, PathBuf)]) -> String {
    let mut table = "[\n".to_owned();
    for (name, path) in files {
        let forms = ["", ".gz", ".br"].map(|end| {
            let path = format!("{}{end}", path.display());
            Path::new(&path).exists().then(|| format!("include_bytes!({path:?})"))
        });
        let [plain, gzip, brotli] = forms;
        let maybe =
            |form: Option<String>| form.map_or("None".to_owned(), |it| format!("Some({it})"));
        writeln!(
            table,
            "File {{ name: {name:?}, plain: {}, gzip: {}, brotli: {} }},",
            plain.unwrap(),
            maybe(gzip),
            maybe(brotli)
        )
        .unwrap();
    }
    table + "]\n"
}
