//! Compilers, package managers and interpreters: asking what is installed. Building, running and fetching
//! is work.
//!
//! `cargo metadata` and `cargo tree` are left out unless they are told not to write the lock file. `npm ls`,
//! `pip list` and their kin read what is there.

use super::{Program, probe, program};
use crate::glance::options::Call;
use crate::glance::reason::{Harm, Reason};
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
    probe("ruby perl node nodejs lua luajit elixir julia", "-v"),
    probe("php", "-v -m -i --ini"),
    probe("deno ghc R Rscript bash zsh fish pwsh", ""),
    probe("java javac scala kotlin kotlinc", "-version"),
    probe("erl ocaml", "-version"),
    probe(
        "gcc g++ cc c++ clang clang++ gfortran nasm ld lld gdb lldb",
        "-v -dumpversion -dumpmachine -print-search-dirs",
    ),
    // `--print=KIND=FILE` writes a file.
    program("rustc").flags("Vv").long("print= version verbose explain=").at_most(0).then(prints_to_standard_output),
    probe(
        "rustfmt clippy-driver cargo-clippy cargo-nextest rust-analyzer sccache wasm-pack bindgen \
             cbindgen hyperfine just",
        "-V",
    ),
    probe("make gmake gradle mvn groovy meson", "-v"),
    probe("cmake ant xcodebuild swift swiftc ffmpeg convert magick sqlite3 grpcurl staticcheck", "-version"),
    probe("ninja autoconf automake libtool ccache scons task clang-format clang-tidy", ""),
    probe(
        "zig kustomize skaffold k9s golangci-lint gopls dlv packer consul vault \
             doctl flyctl",
        "version",
    ),
    probe("dotnet", "--info --list-sdks --list-runtimes"),
    probe("dart opam dune stack cabal nim crystal", ""),
    probe("tsc", "-v --showConfig --all"),
    probe("npx", "-v"),
    probe("code", "-v --list-extensions"),
    probe("eslint prettier nvim less claude pandoc gs", "-v -V"),
    // Not `pytest`, `tox`, `flake8` or `pylint`: they load code of the project before they tell their
    // version.
    probe(
        "ruff black mypy isort pre-commit virtualenv pipx jest vitest vite esbuild rollup turbo \
             biome protoc buf",
        "-V",
    ),
    probe("psql postgres mysql redis-server redis-cli nvcc", "-V"),
    probe("nginx httpd apachectl", "-v -V"),
    probe("curl wget ssh socat", "-V"),
    probe(
        "rsync gpg vim emacs nano htop watch parallel strace ltrace perf valgrind mongo mongosh \
             mongod jupyter ipython mix flutter corepack pipenv dos2unix istioctl",
        "",
    ),
    probe(
        "ansible ansible-playbook az codex aider shfmt hadolint yamllint actionlint \
             nix latex pdflatex tectonic typst",
        "",
    ),
    program("openssl").subcommands(&[
        program("version").flags("abdefopv"),
        program("x509").words(
            "-in -noout -text -subject -issuer -dates -startdate -enddate -fingerprint -serial \
             -sha256 -inform -ext",
        )
        .then(reads_a_certificate),
        program("dgst md5 sha1 sha256 sha512").reads(1).words("-md5 -sha1 -sha256 -sha384 -sha512 -hex -r"),
        program("rand").words("-hex -base64").at_most(1).then(a_few_bytes),
    ]),
    // Keys: what there is, never what they are. `-D` and `-s` load code.
    program("ssh-add").flags("lL").at_most(0).then(lists),
    program("ssh-keygen").flags("lv").valued("fE").at_most(0).then(lists),
    program("tmux").probes("-V").subcommands(&[program(
        "ls list-sessions list-windows lsw list-panes lsp",
    )
    .flags("a")
    .at_most(0)]),
    program("shellcheck").flags("ax").valued("sefSCoiPW").long(
        "shell= exclude= include= format= severity= color=? check-sourced external-sources enable= norc",
    ),
    // `--output` writes, `--shell` reads commands.
    program("xmllint").words("-noout -format -html -recover").long(
        "noout xpath= format html recover nonet noblanks pretty= encode= nowarning huge debug valid schema=",
    )
    .then(reads_files),
    // Packages.
    program("cargo")
        .flags("qvV")
        .long("quiet verbose color= version list")
        .bare()
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
                .flags("id")
                .valued("peF")
                .long(
                    "invert=? package= depth= edges= prefix= offline locked frozen manifest-path= duplicates \
             no-dedupe workspace all-features no-default-features features= format= charset= target= \
             exclude= all prune=",
                )
                .then(touches_nothing),
            program("pkgid")
                .valued("p")
                .long("package= offline locked frozen manifest-path=")
                .then(touches_nothing),
            program("locate-project").long("workspace message-format= manifest-path= quiet"),
            program("read-manifest").long("manifest-path="),
            program("install").long("list").at_most(0).then(lists),
            program("search").long("limit=").flags("q"),
            program("help").at_most(2),
            probe("clippy fmt nextest deny audit expand llvm-cov machete outdated", "-V -h"),
        ])
        .asked(
            "add bench build b check c clean d doc fetch fix generate-lockfile info init login new owner \
             package publish remove r run rustc rustdoc t test uninstall update vendor yank",
        ),
    program("rustup").probes("-V").subcommands(&[
        program("show")
            .flags("v")
            .long("verbose")
            .subcommands(&[program("active-toolchain home profile").flags("v").long("verbose")])
            .bare(),
        program("toolchain target component")
            .subcommands(&[program("list").flags("vq").long("verbose installed quiet toolchain=")]),
        program("which").long("toolchain="),
        program("override").subcommands(&[program("list")]),
        // With an operand it sets.
        program("default").at_most(0),
        program("check help"),
        program("doc").long("path").flags("q").then(prints_path),
    ])
    .asked("component default install override run self set target toolchain uninstall update"),
    program("go").probes("version").subcommands(&[
        program("version").flags("mv"),
        // `-w` and `-u` write.
        program("env").words("-json -changed"),
        // `-export` and `-compiled` build, `-toolexec` and `-exec` run, `-mod=mod` writes `go.mod`.
        program("list").words(
            "-m -f -json -deps -e -test -find -versions -u -retracted -tags -C -mod=readonly -mod=vendor",
        ),
        program("mod").subcommands(&[program("graph verify"), program("why").words("-m -vendor")]),
        program("doc").words("-all -src -short -u -c -cmd"),
        program("tool").at_most(0),
        program("help").at_most(2),
    ])
    .asked("build clean fix fmt generate get install run test vet work"),
    // `-w` writes, `-cpuprofile` too.
    program("gofmt").reads(1).flags("ldes"),
    program("npm pnpm")
        .flags("galr")
        .long(
            "json depth= all global long parseable prod dev production omit= include= workspaces \
             silent only= recursive filter=",
        )
        .probes("-v")
        .subcommands(&[
            program("ls list la ll root prefix bin why"),
            program("explain query").then(npm_alone),
            // A name may be a repository or a directory, too.
            program("view info show v").then(names_package),
            program("outdated ping whoami"),
            program("search").long("searchlimit= long description"),
            program("audit").long("audit-level=").at_most(0),
            // It lists the scripts.
            program("run run-script").at_most(0),
            program("store").subcommands(&[program("path")]),
            program("licenses").subcommands(&[program("list ls")]),
            program("config").subcommands(&[program("get list ls")]),
            program("version").at_most(0),
            program("pkg").subcommands(&[program("get")]),
        ])
        .asked(
            "access add adduser cache ci create dedupe deprecate dist-tag docs edit exec explore fund i init \
             install link login logout org owner pack prune publish rebuild remove rm start stop team test t \
             token uninstall unlink unpublish update up",
        )
        .inherited(),
    program("yarn")
        .long("json pattern= depth= prod production recursive all silent")
        .flags("sRA")
        .probes("-v")
        .subcommands(&[
            // What a newer yarn does not know (`list`, `outdated`, `licenses`) it runs as a script.
            program("why"),
            program("info").then(names_package),
            program("config").subcommands(&[program("list get")]),
            program("workspaces").subcommands(&[program("info list")]),
        ])
        .inherited(),
    program("bun")
        .probes("-v --revision")
        .subcommands(&[program("pm").subcommands(&[program("ls list bin hash").flags("ag").long("all")])]),
    program("nvm fnm volta asdf mise pyenv rbenv nodenv jenv").probes("-v -V").subcommands(&[program(
        "ls list current version versions which where whence root",
    )
    .flags("v")
    .long("no-colors bare")]),
    program("pip pip2 pip3").probes("-V").subcommands(PIP),
    program("uv").probes("-V").subcommands(&[
        program("pip").subcommands(PIP),
        program("version").long("short").at_most(0),
        program("tree")
            .flags("d")
            .valued("p")
            .long("frozen locked depth= package= prune= invert no-dedupe universal outdated")
            .then(keeps_the_lock),
        program("help").at_most(2),
        program("tool cache").subcommands(&[program("dir list")]),
        program("python").subcommands(&[program("list find dir").long("only-installed")]),
    ]),
    program("conda mamba micromamba").probes("-V").subcommands(&[
        program("list info").flags("ae").valued("n").long("envs json name= all explicit export"),
        program("env").subcommands(&[program("list").long("json")]),
        program("config").long("show show-sources json").then(shows_settings),
    ]),
    program("pipdeptree").flags("alrf").valued("pedw").long(
        "packages= exclude= reverse all local-only user-only json json-tree freeze depth= warn=",
    ),
    // `poetry version patch` writes, and `poetry show` may make an environment.
    program("poetry").probes("-V").subcommands(&[
        program("version").flags("s").long("short").at_most(0),
        program("env").subcommands(&[program("info list").flags("p").long("path full-path executable")]),
    ]),
    program("gem")
        .probes("-v")
        .subcommands(&[
            program("list").flags("l").long("local"),
            program("env environment which contents dependency"),
            program("info specification").flags("l").long("local"),
        ]),
    program("javap").words(
        "-c -p -public -private -protected -v -verbose -l -s -cp -classpath -sysinfo -constants",
    ),
    program("jps").flags("qmlvV").at_most(0),
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
    program("list").flags("eluvo").long(
        "format= editable local user not-required exclude= path= include-editable \
             exclude-editable verbose disable-pip-version-check outdated uptodate",
    ),
    program("index").subcommands(&[program("versions").long("pre json disable-pip-version-check")]),
    program("help").at_most(1),
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

fn lists(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["l", "L", "list"]) { Ok(()) } else { Err(call.needs("-l")) }
}

/// No addresses.
fn reads_files(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.exact().is_none_or(|text| text.contains("://"))) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

fn prints_path(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["path"]) { Ok(()) } else { Err(call.needs("--path")) }
}

fn keeps_the_lock(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["frozen", "locked"]) { Ok(()) } else { Err(call.needs("--frozen")) }
}

fn shows_settings(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["show", "show-sources"]) { Ok(()) } else { Err(call.needs("--show")) }
}

fn reads_a_certificate(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["in"]) || call.context.fed { Ok(()) } else { Err(call.no_input()) }
}

fn a_few_bytes(call: &Call<'_>) -> Result<(), Reason> {
    match call.operands.iter().find(|arg| arg.exact().is_none_or(|text| text.len() > 5)) {
        Some(arg) => Err(call.operand(arg)),
        None => Ok(()),
    }
}

/// What pnpm does not know it takes for the name of a script.
fn npm_alone(call: &Call<'_>) -> Result<(), Reason> {
    if call.name.starts_with("npm ") {
        Ok(())
    } else {
        Err(Reason::Harm { program: call.name.clone(), harm: Harm::Interprets })
    }
}

/// `react`, `@types/node@20`; no path and no address, which may be that of a repository.
fn names_package(call: &Call<'_>) -> Result<(), Reason> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@^~<>=*".contains(&byte);
    let named = |text: &str| {
        let name =
            |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.bytes().all(plain);
        match text.strip_prefix('@') {
            Some(scoped) => scoped.split_once('/').is_some_and(|(scope, rest)| name(scope) && name(rest)),
            None => name(text),
        }
    };
    match call.operands.first() {
        Some(arg) if !arg.exact().is_some_and(named) => Err(call.operand(arg)),
        _ => Ok(()),
    }
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
    let prints = call.options.iter().filter(|(name, _)| *name == "print");
    let mut values = prints.filter_map(|(_, value)| value.as_ref());
    match values.find(|value| !kind(value)) {
        Some(value) => Err(call.operand(value)),
        None if call.options.is_empty() => Err(call.needs("--version")),
        None => Ok(()),
    }
}
