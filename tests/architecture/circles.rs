//! No module needs, by whatever way round, one that needs it: who reads one file is never sent in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, Visibility};

use super::rust_files;

type Module = Vec<String>;

#[test]
fn no_module_needs_one_that_needs_it() {
    let needs = needs(Path::new("src"));

    let in_circles: BTreeSet<String> = needs
        .keys()
        .filter(|module| reach(&needs, module).contains(*module))
        .map(|module| format!("{} → {}", module.join("::"), listed(&needs[module])))
        .collect();

    assert!(needs.len() > 100, "only {} modules were found", needs.len());
    assert!(in_circles.is_empty(), "{in_circles:#?}");
}

/// Each module with those that it uses.
fn needs(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let files = rust_files(source);
    let modules: BTreeSet<Module> = files.iter().map(|file| module_of(source, file)).collect();
    files
        .iter()
        .map(|file| {
            let module = module_of(source, file);
            let mut seen = Paths::default();
            seen.visit_file(&syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap());
            let used = seen
                .0
                .iter()
                .filter_map(|path| resolve(&modules, &module, path))
                .filter(|used| *used != module)
                .collect();
            (module, used)
        })
        .collect()
}

/// `src/a/mod.rs` and `src/a.rs` are `a`; the crate's own file is the empty module.
fn module_of(source: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(source).unwrap().with_extension("");
    let mut module: Module = path
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if matches!(module.last().unwrap().as_str(), "mod" | "lib") {
        module.pop();
    }
    module
}

/// The innermost module that a path names; `None` for what is not of this crate.
fn resolve(modules: &BTreeSet<Module>, from: &Module, path: &[String]) -> Option<Module> {
    let mut rest = path;
    let mut at = match rest.first()?.as_str() {
        "crate" => Vec::new(),
        "super" | "self" => from.clone(),
        child => {
            let inside = [from.as_slice(), &[child.to_owned()]].concat();
            modules.contains(&inside).then_some(from.clone())?
        }
    };
    while let Some(step @ ("crate" | "self" | "super")) = rest.first().map(String::as_str) {
        if step == "super" {
            at.pop();
        }
        rest = &rest[1..];
    }
    for step in rest {
        at.push(step.clone());
        if !modules.contains(&at) {
            at.pop();
            break;
        }
    }
    Some(at)
}

/// Everything that can be reached from a module by at least one step.
fn reach(needs: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&Module> = needs[from].iter().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module.clone()) {
            next.extend(&needs[module]);
        }
    }
    reached
}

fn listed(modules: &BTreeSet<Module>) -> String {
    let names: Vec<String> = modules.iter().map(|module| module.join("::")).collect();
    names.join(", ")
}

/// All paths of a file, those of its tests left out.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl Paths {
    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.0.push(with(name.ident.to_string())),
            UseTree::Rename(name) => self.0.push(with(name.ident.to_string())),
            UseTree::Glob(_) => self.0.push(before.to_vec()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(before, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_tree(&[], &item.tree);
    }

    /// Who may use something needs nothing of it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        self.0.push(names.collect());
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    let is_cfg = attribute.path().is_ident("cfg");
    is_cfg
        && attribute
            .parse_args::<syn::Path>()
            .is_ok_and(|flag| flag.is_ident("test"))
}
