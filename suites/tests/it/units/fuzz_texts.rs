//! Every reader either rejects or accepts a text.

use tiebreak_suites::fuzzing::cases::cases;
use tiebreak_suites::fuzzing::targets;

/// Gives the text to every reader.
fn texts(text: &[u8]) {
    for target in targets().iter().filter(|target| target.kernel.is_none() && target.name != "census") {
        assert_eq!((target.judge)(text), Ok(()), "{}", target.name);
    }
}

#[test]
fn any_text_is_refused_or_read() {
    for text in [
        "",
        "multiplier,shift\n1,2\n",
        "multiplier,shift\n1,32",
        "a,b",
        "1 2 3",
        "1 1 1 ties-up=1 # x",
        "\"",
        "\u{feff}",
        "m=2 k=17 lhs=255 rhs[16,0]=254 lhs_offset=-2147483648",
        "m=0 n=4294967295 k=4294967295",
        "m=1 lhs[18446744073709551616]=1",
        "height=4294967295 kernel_h=4294967295 dilation_h=4294967295 top=4294967295",
        "groups=0 channels=0",
        "len=9 m=-2147483648 s=-31 bias=2147483647 zero_point=127 x=-1",
        "s=32",
        "rows=4294967295 columns=4294967295",
        "type=i8 lhs_scale=1e40 rhs_scale=-1 out_scale=nan lhs=3",
        "type=u8 lhs_scale=0x7f7fffff out_scale=1e-38 len=5 rhs[4]=255",
        "m=1 out[0]: exact=0 # x",
        "=",
        "lhs[=1",
        "misalign=16",
        "{\"lanes\":[{\"name\":\"a\",\"command\":[]}]}",
        "{\"command\":\"run\",\"op\":\"fpm\",\"kernel\":\"mutant-abort\",\"len\":-1}\n",
        "{\"command\":\"hello\"}\n{\"command\":\"hello\"}",
    ] {
        texts(text.as_bytes());
    }
    texts(&[0xff, 0xfe, b'\n', 0]);
    texts(b"\x18\x00\x00\x00TFL3");
}

#[test]
fn any_ledger_is_drawn_or_refused() {
    let row = r#"{"op":"<","kernel":"","lane":"l","isa_path":"","against":"contract","scheme":":","parameters":1,"inputs":N,
        "coverage":"sampled","out_of_domain":0,"differ":N,"by_delta":{"":1},"classes":{"/":1},"deviations":{},"witness":null,"seconds":1e308}"#;
    let figure = r#"{"kind":"atlas","op":"<","title":"","says":"","command":"{","columns":[],"rows":[[],[1,"x"]]}"#;
    for inputs in ["0", "7", "18446744073709551615"] {
        let row = row.replace('N', inputs);
        let text = format!(
            r#"{{"format":4,"version":"","command":"'","seed":0,"effort":"","verdict":"holds","seconds":-1,"lanes":[],
            "rows":[{row},{row}],"self_checks":[],"findings":[],"figures":[{figure}]}}"#
        );
        serde_json::from_str::<tiebreak_reports::ledger::Ledger>(&text).expect("a ledger");
        texts(text.as_bytes());
    }
}

#[test]
fn every_kept_case_is_run() {
    for catalogue in tiebreak_suites::registry::catalogues() {
        let kept = catalogue.lines().filter_map(|line| line.split_once(" out[")).map(|(case, _)| case);
        kept.for_each(|case| cases(case.as_bytes()));
    }
}
