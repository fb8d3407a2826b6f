//! Every relative link in a Markdown file has a target, every file that a page names exists, and the book is complete. The checks need neither mdBook
//! nor a network.

use super::read;
use crate::common::workspace;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Directory of the book's pages.
const BOOK: &str = "docs/src";

/// Table of contents of the book.
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// Checked parts of a Markdown file.
#[derive(Debug, Default)]
struct Page {
    /// Text of the first heading.
    title: String,
    /// Anchors of the headings.
    anchors: BTreeSet<String>,
    /// Targets of the links, with the text of each.
    links: Vec<(String, String)>,
    /// Inline code.
    code: Vec<String>,
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let (mut heading, mut link): (Option<String>, Option<(String, String)>) = (None, None);
        for event in Parser::new_ext(text, pulldown_cmark::Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.head(&heading.take().unwrap_or_default()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    link = Some((dest_url.to_string(), String::new()));
                }
                Event::End(TagEnd::Link | TagEnd::Image) => page.links.extend(link.take()),
                Event::Text(ref piece) | Event::Code(ref piece) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(piece));
                    link.iter_mut().for_each(|(_, text)| text.push_str(piece));
                    if matches!(event, Event::Code(_)) {
                        page.code.push(piece.to_string());
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// Adds a heading and its anchor; the anchor of a repeated heading has a number.
    fn head(&mut self, heading: &str) {
        if self.title.is_empty() {
            self.title = heading.to_owned();
        }
        let slug = slug(heading);
        let numbered = (1..).map(|n| format!("{slug}-{n}"));
        let mut anchors = std::iter::once(slug.clone()).chain(numbered);
        self.anchors.extend(anchors.find(|anchor| !self.anchors.contains(anchor)));
    }
}

/// Returns the anchor of a heading, as made by GitHub and mdBook.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Markdown files of a tree by path, with access to other files.
struct Tree<'a> {
    pages: BTreeMap<String, Page>,
    /// Returns the text of another file, or `None` if it does not exist.
    file: &'a dyn Fn(&str) -> Option<String>,
}

/// Resolves `..` in a path; `None` if the path leaves the tree.
fn resolved(directory: &Path, link: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for component in directory.join(link).components() {
        match component {
            Component::ParentDir if !path.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            other => path.push(other),
        }
    }
    path.to_str().map(str::to_owned)
}

impl Tree<'_> {
    /// Returns the fault of a link, if any.
    fn complaint(&self, from: &str, link: &str) -> Option<String> {
        if link.starts_with("https://") {
            return None;
        }
        let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
        let directory = Path::new(from).parent().unwrap_or(Path::new(""));
        let target = if path.is_empty() { Some(from.to_owned()) } else { resolved(directory, path) };
        let Some(target) = target else { return Some("leaves the repository".to_owned()) };
        if from.starts_with(BOOK) && !self.pages.contains_key(&target) {
            return Some("is no page of the book, and no file of it where it is built".to_owned());
        }
        if from.starts_with(BOOK) && !target.starts_with(BOOK) {
            return Some("leaves the book, which is built without that file".to_owned());
        }
        match (self.pages.get(&target), anchor) {
            (Some(page), Some(anchor)) if !page.anchors.contains(anchor) => {
                Some(format!("{target} has no such heading"))
            }
            (None, Some(_)) => Some(format!("{target} is no page with headings")),
            (None, None) if (self.file)(&target).is_none() => Some(format!("{target} does not exist")),
            _ => None,
        }
    }

    /// Returns the links without a target.
    fn dead_links(&self) -> Vec<String> {
        let links = self.pages.iter().flat_map(|(from, page)| page.links.iter().map(move |(link, _)| (from, link)));
        links.filter_map(|(from, link)| Some(format!("{from}: `{link}`: {}", self.complaint(from, link)?))).collect()
    }

    /// Returns nonexistent files and tests that a page names: code that begins with a directory of the project, with or without `::test` after it.
    fn dead_names(&self) -> Vec<String> {
        let rooms = ["docs/", "oracle/", "impls/", "suites/", "reports/", "fuzz/", "xtask/", ".ci/"];
        let names = self.pages.iter().flat_map(|(from, page)| page.code.iter().map(move |code| (from, code)));
        let paths = names.filter(|(_, code)| {
            rooms.iter().any(|room| code.starts_with(room))
                && !code.contains([' ', '<', '*', '{'])
                && code.contains('.')
        });
        let dead = |code: &str| {
            let (path, test) = code.split_once("::").map_or((code, None), |(path, test)| (path, Some(test)));
            let text = (self.file)(path);
            text.is_none_or(|text| test.is_some_and(|test| !text.contains(&format!("fn {test}("))))
        };
        paths.filter(|(_, code)| dead(code)).map(|(from, code)| format!("{from}: `{code}` does not exist")).collect()
    }

    /// Returns the faults of the table of contents: missing or repeated pages, and titles other than those of the pages.
    fn summary_errors(&self) -> Vec<String> {
        let mut out = Vec::new();
        let entries = &self.pages[SUMMARY].links;
        for (path, page) in self.pages.iter().filter(|(path, _)| path.starts_with(BOOK) && *path != SUMMARY) {
            let named = entries.iter().filter(|(link, _)| resolved(Path::new(BOOK), link).as_ref() == Some(path));
            let titles: Vec<&String> = named.map(|(_, title)| title).collect();
            match titles[..] {
                [title] if *title == page.title => {}
                [title] => out.push(format!("{path}: the heading is `{}`, the summary has `{title}`", page.title)),
                [] => out.push(format!("{path} is missing from the summary")),
                _ => out.push(format!("{path} is in the summary {} times", titles.len())),
            }
        }
        out
    }
}

/// Returns the text of a file of the workspace; empty for a directory.
fn file(path: &str) -> Option<String> {
    let path = workspace().join(path);
    if path.is_dir() {
        Some(String::new())
    } else {
        std::fs::read(path).ok().map(|b| String::from_utf8_lossy(&b).into_owned())
    }
}

fn repository() -> Tree<'static> {
    let paths = read::markdown();
    let page = |path: String| (path.clone(), Page::parse(&file(&path).expect("it was listed")));
    Tree { pages: paths.into_iter().map(page).collect(), file: &file }
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let tree = repository();
    let all = tree.pages.values().flat_map(|page| &page.links).filter(|(link, _)| !link.starts_with("https://"));
    assert!(tree.pages.len() >= 14 && all.count() >= 50, "only {:?}", tree.pages.keys());
    let dead = tree.dead_links();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_file_and_test_that_a_page_names_exists() {
    let dead = repository().dead_names();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let tree = repository();
    assert!(tree.pages[SUMMARY].links.len() >= 8);
    let errors = tree.summary_errors();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let config = file("docs/book.toml").expect("the book's configuration");
    for setting in ["src = \"src\"", "create-missing = false"] {
        assert!(config.lines().any(|line| line == setting), "docs/book.toml lacks `{setting}`");
    }
}

/// Short documents stay short. Longer texts belong into the book, and reasons into the source files.
#[test]
fn readme_and_architecture_stay_short() {
    let readme = file("README.md").expect("README.md").lines().count();
    let architecture = file("ARCHITECTURE.md").expect("ARCHITECTURE.md").len();
    assert!(readme <= 120, "README.md has {readme} lines");
    assert!(architecture <= 11_000, "ARCHITECTURE.md has {architecture} bytes");
}

/// A new finding gets a row in the table of its page, and the README leads to the page.
#[test]
fn every_finding_is_in_the_table_of_findings() {
    let tree = repository();
    let numbered = |anchor: &&String| anchor.starts_with(|c: char| c.is_ascii_digit());
    let findings: Vec<&String> = tree.pages["docs/src/findings.md"].anchors.iter().filter(numbered).collect();
    assert!(findings.len() >= 15, "only {findings:?}");
    for finding in findings {
        let link = format!("#{finding}");
        let rows = tree.pages["docs/src/findings.md"].links.iter().filter(|(to, _)| *to == link);
        let numbers: Vec<&str> = rows.map(|(_, number)| number.as_str()).collect();
        assert!(numbers.len() == 1 && finding.starts_with(&format!("{}-", numbers[0])), "{finding}: {numbers:?}");
    }
    assert!(tree.pages["README.md"].links.iter().any(|(to, _)| to == "docs/src/findings.md"));
}

/// Checks a tree of a page of the book, its summary and a README, with one text replaced.
fn with(replaced: &str, by: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let texts = [
        (
            "README.md",
            "# House\n[page](docs/src/page.md#a-b) [licence](LICENSE) `oracle/a.rs::holds`\n## Words\n[up](#words)\n",
        ),
        ("docs/src/SUMMARY.md", "# Summary\n- [A page](page.md)\n"),
        ("docs/src/page.md", "# A page\n## `a` (b)\n[here](page.md)\n## `a` (b)\n[second](#a-b-1)\n"),
    ];
    let pages = texts.map(|(path, text)| (path.to_owned(), Page::parse(&text.replace(replaced, by))));
    let file = |path: &str| match path {
        "LICENSE" => Some(String::new()),
        "oracle/a.rs" => Some("fn holds() {}".to_owned()),
        _ => None,
    };
    let tree = Tree { pages: pages.into(), file: &file };
    (tree.dead_links(), tree.dead_names(), tree.summary_errors())
}

/// The checks above detect the faults that they are for.
#[test]
fn a_broken_tree_is_found() {
    assert_eq!(with("", ""), (vec![], vec![], vec![]), "a whole tree is accepted");
    for (replaced, by, complaint) in [
        ("page.md#a-b", "pages.md", "docs/src/pages.md does not exist"),
        ("page.md#a-b", "page.md#ab", "docs/src/page.md has no such heading"),
        ("(LICENSE)", "(LICENSE#words)", "LICENSE is no page with headings"),
        ("(LICENSE)", "(../LICENSE)", "leaves the repository"),
        ("#words", "#word", "README.md has no such heading"),
        ("#a-b-1", "#a-b-2", "docs/src/page.md has no such heading"),
        ("[here](page.md)", "[here](../../README.md)", "leaves the book"),
        ("[here](page.md)", "[here](../../LICENSE)", "is no page of the book"),
        ("[A page](page.md)", "[A page](gone.md)", "is no page of the book"),
    ] {
        let dead = with(replaced, by).0;
        assert!(dead.len() == 1 && dead[0].contains(complaint), "{replaced} -> {by}: {dead:?}");
    }
    for by in ["`oracle/b.rs`", "`oracle/a.rs::fails`"] {
        assert_eq!(with("`oracle/a.rs::holds`", by).1, [format!("README.md: {by} does not exist")]);
    }
    for (replaced, by, complaint) in [
        ("- [A page](page.md)", "", "docs/src/page.md is missing from the summary"),
        (
            "- [A page](page.md)",
            "- [A page](page.md)\n- [A page](page.md)",
            "docs/src/page.md is in the summary 2 times",
        ),
        ("[A page]", "[Page]", "docs/src/page.md: the heading is `A page`, the summary has `Page`"),
    ] {
        assert_eq!(with(replaced, by).2, [complaint]);
    }
}
