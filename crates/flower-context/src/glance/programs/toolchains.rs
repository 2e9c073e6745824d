//! Compilers, package managers and interpreters: asking what is installed. Building, running and fetching
//! is work.
//!
//! `cargo metadata` and `cargo tree` are left out unless they are told not to write the lock file. `npm ls`,
//! `pip list` and their kin read what is there.

use super::{Program, probe, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

pub(super) const PROGRAMS: &[Program] = &[
    // Interpreters and compilers: their version, and nothing beside it. Each probe is one that the program
    // is known to answer and end: `bash -version` and `python -v` read a script from their input, `ninja
    // -v` builds.
    probe(
        "python python2 python3 pypy pypy3 python3.8 python3.9 python3.10 python3.11 python3.12 \
             python3.13 python3.14",
        "-V -VV",
    ),
    probe("ruby perl node nodejs bun lua luajit elixir php julia", "-v"),
    probe("deno ghc R Rscript bash zsh fish pwsh", ""),
    probe("java javac scala kotlin kotlinc", "-version"),
    probe(
        "gcc g++ cc c++ clang clang++ gfortran nasm ld lld gdb lldb",
        "-v -dumpversion -dumpmachine -print-search-dirs",
    ),
    // `--print=KIND=FILE` writes a file.
    program("rustc").flags("Vv").long("print= version verbose").at_most(0).then(prints_to_standard_output),
    probe(
        "rustfmt clippy-driver cargo-clippy cargo-nextest rust-analyzer sccache wasm-pack bindgen \
             cbindgen hyperfine just",
        "-V",
    ),
    probe("make gmake gradle mvn groovy meson", "-v"),
    probe("cmake ant xcodebuild swift swiftc ffmpeg convert magick sqlite3 grpcurl staticcheck", "-version"),
    probe("ninja autoconf automake libtool ccache scons task clang-format clang-tidy", ""),
    probe(
        "bazel bazelisk zig kustomize skaffold k9s golangci-lint gopls dlv packer consul vault \
             doctl flyctl",
        "version",
    ),
    probe("dotnet", "--info --list-sdks --list-runtimes"),
    probe("dart opam dune stack cabal ocaml nim crystal", ""),
    probe("tsc eslint prettier yarn nvim code tmux less claude pandoc gs", "-v -V"),
    // Not `pytest`, `tox`, `flake8` or `pylint`: they load code of the project before they tell their
    // version.
    probe(
        "ruff black mypy isort pre-commit virtualenv pipx jest vitest vite esbuild rollup turbo \
             biome protoc buf",
        "-V",
    ),
    probe("psql postgres mysql redis-server redis-cli nginx httpd apachectl", "-V"),
    probe("curl wget ssh socat", "-V"),
    probe(
        "rsync gpg vim emacs nano man htop watch parallel strace ltrace perf valgrind mongosh \
             mongod jupyter ipython",
        "",
    ),
    probe(
        "ansible ansible-playbook az codex aider shellcheck shfmt hadolint yamllint actionlint \
             nix pacman apk dnf yum latex pdflatex tectonic typst",
        "",
    ),
    program("openssl").subcommands(&[
        program("version").flags("abdefopv"),
        program("x509").words(
            "-in -noout -text -subject -issuer -dates -startdate -enddate -fingerprint -serial \
             -sha256 -inform -ext",
        ),
    ]),
    // Packages.
    program("cargo")
        .flags("qv")
        .long("quiet verbose color=")
        .probes("-V -vV -Vv version --list")
        .subcommands(&[
            program("version").flags("v").long("verbose"),
            program("metadata")
                .long(
                    "format-version= no-deps offline locked frozen manifest-path= quiet features= \
             all-features no-default-features filter-platform=",
                )
                .flags("q")
                .then(touches_nothing),
            program("tree")
                .flags("i")
                .valued("peF")
                .long(
                    "invert=? package= depth= edges= prefix= offline locked frozen manifest-path= duplicates \
             no-dedupe workspace all-features no-default-features features= format= charset= target= \
             exclude= all prune=",
                )
                .flags("d")
                .then(touches_nothing),
            program("pkgid")
                .valued("p")
                .long("package= offline locked frozen manifest-path=")
                .then(touches_nothing),
            program("locate-project").long("workspace message-format= manifest-path= quiet"),
            program("read-manifest").long("manifest-path="),
        ]),
    program("rustup").probes("-V").subcommands(&[
        program("show")
            .flags("v")
            .long("verbose")
            .subcommands(&[program("active-toolchain home profile").flags("v").long("verbose")])
            .bare(),
        program("toolchain target component")
            .subcommands(&[program("list").flags("vq").long("verbose installed quiet toolchain=")]),
        program("which").long("toolchain="),
    ]),
    program("go").probes("version").subcommands(&[
        program("version").flags("mv"),
        // `-w` and `-u` write.
        program("env").words("-json -changed"),
    ]),
    program("npm pnpm")
        .flags("gal")
        .long(
            "json depth= all global long parseable prod dev production omit= include= workspaces \
             silent only=",
        )
        .probes("-v")
        .subcommands(&[
            program("ls list la ll root prefix bin explain why"),
            program("config").subcommands(&[program("get list ls")]),
            program("version").at_most(0),
            program("pkg").subcommands(&[program("get")]),
        ])
        .inherited(),
    program("nvm fnm volta asdf mise pyenv rbenv nodenv jenv").probes("-v -V").subcommands(&[program(
        "ls list current version versions which where whence root",
    )
    .flags("v")
    .long("no-colors bare")]),
    program("pip pip2 pip3").probes("-V").subcommands(PIP),
    program("uv").probes("-V").subcommands(&[
        program("pip").subcommands(PIP),
        program("version").long("short").at_most(0),
        program("tool cache").subcommands(&[program("dir list")]),
        program("python").subcommands(&[program("list find dir").long("only-installed")]),
    ]),
    program("conda mamba micromamba").probes("-V").subcommands(&[
        program("list info").flags("ae").valued("n").long("envs json name= all explicit export"),
        program("env config").subcommands(&[program("list").long("json")]),
    ]),
    // `poetry version patch` writes.
    program("poetry").probes("-V").subcommands(&[
        program("show").flags("tT").long("tree top-level no-dev only= with= without= all"),
        program("version").flags("s").long("short").at_most(0),
        program("env").subcommands(&[program("info list").flags("p").long("path full-path executable")]),
    ]),
    program("gem")
        .probes("-v")
        .subcommands(&[program("list").flags("l").long("local"), program("env environment which contents")]),
    // It evaluates the Gemfile, so only its version.
    probe("bundle bundler", "-v"),
    program("composer").probes("-V").subcommands(&[program("show info")
        .flags("itDP")
        .long("installed tree direct path name-only format= no-interaction no-plugins")
        .then(runs_no_plugins)]),
    program("ldd").flags("v").then(system_libraries),
    program("ldconfig").flags("pNv").at_most(0).then(prints_cache),
    program("pkg-config pkgconf").long(
        "modversion libs cflags exists list-all variable= print-errors version static libs-only-l \
             libs-only-L cflags-only-I atleast-version=",
    ),
    program("llvm-config pg_config mysql_config")
        .long("version libs cflags bindir includedir libdir prefix ldflags")
        .at_most(0),
    program("update-alternatives").long("list display query get-selections").at_most(1),
];

const PIP: &[Program] = &[
    // `--outdated` asks the index.
    program("list").flags("eluv").long(
        "format= editable local user not-required exclude= path= include-editable \
             exclude-editable verbose disable-pip-version-check",
    ),
    program("show").flags("fqv").long("files verbose disable-pip-version-check"),
    program("freeze")
        .flags("l")
        .long("local user all exclude= exclude-editable path= disable-pip-version-check"),
    program("check inspect").long("local user path= disable-pip-version-check"),
    program("config").subcommands(&[program("list get debug")]),
    program("cache").subcommands(&[program("dir info list")]),
    program("debug tree"),
];

/// It writes a lock file that is missing or out of date, unless it is told not to. What it fetches goes to its
/// own cache.
fn touches_nothing(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["locked", "frozen", "no-deps"]) { Ok(()) } else { Err(call.needs("--locked")) }
}

/// Plugins of the project run with every command.
fn runs_no_plugins(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["no-plugins"]) { Ok(()) } else { Err(call.needs("--no-plugins")) }
}

/// `ldd` may run the program it looks at, so only those of the system.
fn system_libraries(call: &Call<'_>) -> Result<(), Reason> {
    let system = |text: &str| {
        ["/bin/", "/usr/", "/lib", "/sbin/"].iter().any(|directory| text.starts_with(directory))
            && !text.contains("..")
    };
    match call.operands.iter().find(|arg| !arg.exact().is_some_and(system)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn prints_cache(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["p"]) { Ok(()) } else { Err(call.needs("-p")) }
}

fn prints_to_standard_output(call: &Call<'_>) -> Result<(), Reason> {
    let kind = |value: &Arg| {
        value.exact().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
    };
    let values = call.options.iter().filter_map(|(_, value)| value.as_ref());
    match values.into_iter().find(|value| !kind(value)) {
        Some(value) => Err(call.operand(value)),
        None if call.options.is_empty() => Err(call.needs("--version")),
        None => Ok(()),
    }
}
