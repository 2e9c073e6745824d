//! Clusters and clouds: reads that end. `-w` and `-f` wait, `--raw` may be any path of the API.

use super::{Program, program};

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
        ])
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
        program("providers").at_most(0),
    ]),
    program("gh").subcommands(GH),
    program("aws")
        .probes("--version")
        .subcommands(&[program("configure").subcommands(&[program("list get list-profiles")])]),
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
    program("rollout").subcommands(&[program("history").long("revision=")]),
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
            program("checks").long("required json= jq="),
            program("diff").long("name-only patch color="),
        ])
        .inherited(),
    program("issue")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list").valued("sLlAaSmq").long(
                "state= limit= label= author= assignee= search= milestone= json= jq= template= mention=",
            ),
            program("view").valued("q").flags("c").long("json= jq= comments template="),
            program("status").long("json= jq="),
        ])
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
            program("list").valued("L").long("limit= json= jq= exclude-drafts exclude-pre-releases"),
            program("view").long("json= jq="),
        ])
        .inherited(),
    program("repo").subcommands(&[
        program("view").long("json= jq= branch=").valued("b"),
        program("list").valued("L").long("limit= json= jq="),
    ]),
    program("workflow")
        .valued("R")
        .long("repo=")
        .subcommands(&[
            program("list").flags("a").long("all limit= json="),
            program("view").flags("y").long("yaml ref="),
        ])
        .inherited(),
    program("label").subcommands(&[program("list").valued("L").long("limit= json=")]),
    program("auth").subcommands(&[program("status")]),
    program("version"),
];
