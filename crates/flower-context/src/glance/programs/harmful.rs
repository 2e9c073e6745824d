//! Programs that are known not to be glances: the verdict is the same as for an unknown one, the reason is
//! better.

use crate::glance::reason::Harm;

/// What a program does that a glance must not, if it is known.
pub(super) fn harm(program: &str) -> Option<Harm> {
    KNOWN
        .iter()
        .find(|(_, names)| names.split_ascii_whitespace().any(|name| name == program))
        .map(|(harm, _)| *harm)
}

const KNOWN: &[(Harm, &str)] = &[
    (
        Harm::Writes,
        "rm rmdir mv cp ln mkdir touch tee dd truncate install chmod chown chgrp chattr setfacl \
             split csplit mkfifo mknod mktemp shred sync patch unlink rename mkfs fdisk parted umount \
             losetup kill pkill killall renice shutdown reboot halt poweroff useradd userdel usermod \
             passwd groupadd visudo iptables nft modprobe insmod rmmod ldconfig zip rar cpio rsync \
             scp sponge logger wall export declare typeset readonly local unset let mapfile readarray \
             getopts alias unalias history umount script screendump tmux screen",
    ),
    (
        Harm::Interprets,
        "sh bash zsh dash ksh fish csh tcsh pwsh python python2 python3 pypy pypy3 perl ruby node \
             nodejs deno bun php lua luajit Rscript R julia erl elixir iex ghci jshell osascript \
             tclsh expect bc dc m4 sqlite3 psql mysql redis-cli mongosh gdb lldb vim nvim ed ex emacs",
    ),
    (
        Harm::RunsOthers,
        "eval exec source . sudo doas su env nohup setsid chroot unshare nsenter flock parallel \
             watch entr strace ltrace perf valgrind trap builtin enable hash coproc bind complete \
             compgen command_not_found_handle busybox toybox ssh npx pnpx bunx uvx pipx nix-shell \
             direnv at batch systemd-run runuser caffeinate fc zmodload autoload zle emulate noglob \
             nocorrect repeat foreach hyperfine time",
    ),
    (
        Harm::Network,
        "curl wget http https xh nc ncat netcat telnet ftp sftp ping ping6 traceroute tracepath \
             mtr dig host nslookup whois openssl nmap socat grpcurl aws gcloud az",
    ),
    (
        Harm::Endless,
        "yes less more most info nano pico htop btop atop glances inotifywait fswatch tcpdump \
             select wait read",
    ),
    (
        Harm::Works,
        "make gmake cmake ninja meson bazel just task gcc g++ cc c++ clang clang++ rustc javac go \
             mvn gradle gradlew sbt tsc webpack vite jest vitest pytest tox nox mypy ruff black \
             eslint prettier ffmpeg pandoc",
    ),
];
