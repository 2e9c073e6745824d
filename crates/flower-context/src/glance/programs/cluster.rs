//! Clusters and clouds: reads that end. `-w` and `-f` wait, `--raw` may be any path of the API.

use super::{Program, program};
use crate::glance::options::Call;
use crate::glance::reason::Reason;
use crate::glance::value::Arg;

pub(super) const PROGRAMS: &[Program] = &[
    program("kubectl oc")
        .flags("A")
        .valued("nlLo")
        .long(
            "namespace= context= cluster= all-namespaces selector= output= no-headers=? show-labels=? \
             label-columns= field-selector= sort-by= request-timeout= ignore-not-found=? show-kind=? \
             chunk-size= v=",
        )
        .subcommands(KUBECTL)
        .asked(
            "annotate apply attach autoscale cordon cp create debug delete drain edit exec expose label patch \
             port-forward proxy replace run scale set taint wait",
        )
        .inherited(),
    program("helm")
        .valued("no")
        .long("namespace= kube-context= output= all-namespaces")
        .flags("A")
        .subcommands(&[
            program("list ls").flags("aqdr").valued("fm").long(
                "all short deployed failed pending filter= max= date reverse superseded uninstalled \
             uninstalling",
            ),
            program("status history").long("revision= max= show-desc show-resources"),
            program("get").subcommands(&[program("all values manifest notes hooks metadata")
                .flags("a")
                .long("revision= all")]),
            program("version env").long("short"),
            program("repo").subcommands(&[program("list ls")]),
            program("search").subcommands(&[program("repo hub")
                .flags("lr")
                .long("version= versions regexp devel max-col-width=")]),
            program("show inspect").subcommands(&[program("all chart values readme crds").long("version=")]),
            // `--post-renderer` runs a program, `--output-dir` writes.
            program("template").flags("g").valued("sf").long(
                "set= set-string= values= show-only= include-crds release-name= version= kube-version= \
             api-versions= is-upgrade no-hooks skip-tests name-template=",
            ),
            program("lint").valued("f").long("set= values= strict quiet with-subcharts"),
            program("dependency dep").subcommands(&[program("list ls")]),
            program("help").at_most(2),
        ])
        .asked("install upgrade uninstall rollback pull push package create test plugin repo registry")
        .inherited(),
    program("kubectx kubens").flags("c").long("current").at_most(0),
    program("minikube kind k3d").subcommands(&[
        program("status version ip").long("output= format=").valued("o"),
        program("get list").subcommands(&[program("clusters nodes profile")]),
    ]),
    program("terraform tofu").subcommands(&[
        program("version").words("-json --json"),
        program("output").words("-json --json -raw -no-color"),
        program("show").words("-json --json -no-color"),
        program("state").subcommands(&[program("list show").words("-json -no-color")]),
        program("workspace").subcommands(&[program("list show")]),
        program("fmt").words("-check -diff -recursive -no-color").then(checks_only),
        program("providers").at_most(0),
    ]),
    program("gh").subcommands(GH),
    program("glab").subcommands(&[
        program("mr issue")
            .valued("R")
            .long("repo=")
            .subcommands(&[
                program("list").valued("lPpms").flags("AMc").long(
                    "all merged closed label= author= assignee= reviewer= per-page= page= source-branch= \
             target-branch= search= milestone=",
                ),
                program("view").flags("c").long("comments"),
                program("diff").long("color= raw"),
            ])
            .inherited(),
        program("repo").subcommands(&[program("view list")]),
        program("auth").subcommands(&[program("status")]),
    ]),
    program("aws")
        .probes("--version")
        .long("profile= region= output= no-cli-pager")
        .subcommands(&[
            program("configure").subcommands(&[program("list get list-profiles")]),
            program("sts").subcommands(&[program("get-caller-identity").at_most(0)]),
            program("s3").subcommands(&[program("ls").long("recursive human-readable summarize")]),
        ])
        .inherited(),
    program("gcloud").subcommands(&[
        program("config").subcommands(&[program("list get-value get").long("format=")]),
        program("info version").long("format="),
    ]),
];

const KUBECTL: &[Program] = &[
    program("get").flags("A").long("show-managed-fields=? server-print=?"),
    program("describe explain").long("show-events=? recursive=? api-version="),
    // `-f` follows; `--tail` and `--since` only choose.
    program("logs log").flags("p").valued("c").long(
        "tail= since= since-time= previous=? timestamps=? container= all-containers=? prefix=? \
             limit-bytes=",
    ),
    program("top").subcommands(&[
        program("pod pods po node nodes no").long("containers=? sort-by= no-headers=? sum=?")
    ]),
    program("version").long("client=? short=? output="),
    program("cluster-info").at_most(0),
    program("api-resources api-versions").long("namespaced=? api-group= verbs= categories= cached=?"),
    program("config").subcommands(&[
        program("view").long("minify=? flatten=? merge=?"),
        program("current-context get-contexts get-clusters get-users"),
    ]),
    program("auth").subcommands(&[program("can-i").long("list as= subresource= quiet"), program("whoami")]),
    program("rollout").subcommands(&[
        program("history").long("revision="),
        // It waits for the end unless it is told not to.
        program("status").long("watch=? revision= timeout=").then(waits_for_nothing),
    ]),
    program("help options").at_most(2),
    program("events").long("types= for="),
];

/// Reads of the hosting service. `--web` opens a browser, `--watch` waits.
const GH: &[Program] = &[
    program("pr")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list")
                .valued("sLlAaBHSq")
                .flags("d")
                .long("state= limit= label= author= assignee= base= head= search= json= jq= template= draft"),
            program("view").valued("q").flags("c").long("json= jq= comments template="),
            program("status").valued("q").long("json= jq= conflict-status"),
            program("checks").valued("qt").long("required json= jq= template="),
            program("diff").long("name-only patch color="),
        ])
        .asked("checkout close comment create edit merge ready reopen review")
        .inherited(),
    program("issue")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list").valued("sLlAaSmq").long(
                "state= limit= label= author= assignee= search= milestone= json= jq= template= mention=",
            ),
            program("view").valued("q").flags("c").long("json= jq= comments template="),
            program("status").valued("qt").long("json= jq= template="),
        ])
        .asked("close comment create edit reopen")
        .inherited(),
    program("run")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list")
                .valued("Lbwsecuq")
                .long("limit= branch= workflow= status= event= commit= user= json= jq= all")
                .flags("a"),
            program("view")
                .valued("jaq")
                .flags("v")
                .long("job= attempt= log log-failed verbose exit-status json= jq="),
        ])
        .inherited(),
    program("release")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list")
                .valued("LOqt")
                .long("limit= order= json= jq= template= exclude-drafts exclude-pre-releases"),
            program("view").valued("qt").long("json= jq= template="),
        ])
        .inherited(),
    program("repo").subcommands(&[
        program("view").long("json= jq= template= branch=").valued("bqt"),
        program("list")
            .valued("Llqt")
            .long("limit= language= json= jq= template= visibility= topic= archived no-archived fork source"),
    ]),
    program("workflow")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list").flags("a").long("all limit= json="),
            program("view").flags("y").long("yaml ref="),
        ])
        .inherited(),
    program("label")
        .valued("R")
        .long("repo=")
        .subcommands(&[program("list").valued("LS").long("limit= json= search=")]),
    program("auth").subcommands(&[program("status").long("hostname= active").valued("h")]),
    program("secret variable cache ruleset")
        .valued("R")
        .long("repo=")
        .subcommands(&[program("list").valued("Loea").long("org= env= app= limit= json= jq=")]),
    program("gist").subcommands(&[program("list").valued("L").long("limit= public secret")]),
    program("alias extension").subcommands(&[program("list").at_most(0)]),
    program("config").subcommands(&[program("list get")]),
    program("search").subcommands(&[program("issues prs repos code commits").valued("LRq").long(
        "limit= repo= owner= state= author= assignee= label= language= sort= order= json= jq= match= \
             created= updated= filename= extension= merged draft review=",
    )]),
    program("status").valued("oe").long("org= exclude="),
    // A field or a body makes it a `POST`; a header may say that it is one.
    program("api")
        .flags("i")
        .valued("qtX")
        .long("jq= template= paginate slurp include cache= method= silent")
        .at_most(1)
        .then(gets),
    program("version"),
    program("help").at_most(2),
];

fn checks_only(call: &Call<'_>) -> Result<(), Reason> {
    if call.has(&["check"]) { Ok(()) } else { Err(call.needs("-check")) }
}

fn waits_for_nothing(call: &Call<'_>) -> Result<(), Reason> {
    let never = |(name, value): &(&str, Option<Arg>)| {
        *name == "watch" && value.as_ref().and_then(Arg::exact) == Some("false")
    };
    if call.options.iter().any(never) { Ok(()) } else { Err(call.needs("--watch=false")) }
}

/// A path of the service that is asked for with `GET`.
fn gets(call: &Call<'_>) -> Result<(), Reason> {
    let methods = call.options.iter().filter(|(name, _)| matches!(*name, "X" | "method"));
    let mut methods = methods.filter_map(|(_, value)| value.as_ref());
    if let Some(method) = methods.find(|method| method.exact() != Some("GET")) {
        return Err(call.operand(method));
    }
    let elsewhere = |arg: &Arg| arg.shown().contains("://") || arg.exact() == Some("graphql");
    match call.operands.first() {
        Some(arg) if elsewhere(arg) => Err(call.operand(arg)),
        _ => Ok(()),
    }
}
