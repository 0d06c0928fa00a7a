//! The catalogue of plans: built in, or an operator's own file.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value};

use super::{Plan, PlanFeature, PlanLimit};

const BUILT_IN: &str = include_str!("built_in.json");
/// Plans of a file at most.
const MAX_PLANS: usize = 100;
/// Characters of an id at most.
const MAX_ID: usize = 40;
/// Characters of a name at most.
const MAX_NAME: usize = 100;

/// The plans that teams can be on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCatalog {
    plans: Vec<Arc<Plan>>,
    /// The place of the plan that new teams get.
    default: usize,
}

impl PlanCatalog {
    /// Reads plans as JSON, such as [`PlanCatalog::built_in_json`] shows.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, a sentence each.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let value: Value = serde_json::from_str(text).map_err(|error| vec![error.to_string()])?;
        let mut mistakes = Vec::new();
        let catalog = read_catalog(&value, &mut mistakes);
        match catalog {
            Some(catalog) if mistakes.is_empty() => Ok(catalog),
            _ => Err(mistakes),
        }
    }

    /// The plans of an installation whose operator has none, as JSON.
    #[must_use]
    pub const fn built_in_json() -> &'static str {
        BUILT_IN
    }

    /// Every plan, in the order of the file.
    #[must_use]
    pub fn plans(&self) -> &[Arc<Plan>] {
        &self.plans
    }

    /// The plan that new teams get, and teams whose plan is not in the file any more.
    #[must_use]
    pub fn default_plan(&self) -> &Arc<Plan> {
        &self.plans[self.default]
    }

    /// The plan with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Arc<Plan>> {
        self.plans.iter().find(|plan| plan.id == id)
    }
}

impl Default for PlanCatalog {
    /// The built-in plans.
    fn default() -> Self {
        // A test reads the built-in plans, so this other one is never used.
        Self::parse(BUILT_IN).unwrap_or_else(|_| {
            let (id, name) = ("unlimited".to_owned(), "Unlimited".to_owned());
            let features = PlanFeature::ALL.to_vec();
            Self {
                plans: vec![Arc::new(Plan { id, name, limits: [None; 6], features })],
                default: 0,
            }
        })
    }
}

fn read_catalog(value: &Value, mistakes: &mut Vec<String>) -> Option<PlanCatalog> {
    let file = object(value, "the file", &["default", "plans"], mistakes)?;
    let Some(plans) = file.get("plans").and_then(Value::as_array) else {
        mistakes.push("plans: wants a list of plans".to_owned());
        return None;
    };
    if !(1..=MAX_PLANS).contains(&plans.len()) {
        mistakes.push(format!("plans: wants 1 to {MAX_PLANS} plans"));
        return None;
    }
    let default = file.get("default").and_then(Value::as_str).map(str::to_owned);
    // The plan with this id may have mistakes of its own.
    if default.is_none() || !plans.iter().any(|plan| plan["id"].as_str() == default.as_deref()) {
        mistakes.push("default: wants the id of one of the plans".to_owned());
    }
    let read = |(place, plan)| read_plan(plan, &format!("plans[{place}]"), mistakes);
    let plans: Vec<_> = plans.iter().enumerate().filter_map(read).map(Arc::new).collect();
    let mut known = BTreeSet::new();
    for plan in &plans {
        if !known.insert(&plan.id) {
            mistakes.push(format!("plans: {} is there twice", plan.id));
        }
    }
    let default = plans.iter().position(|plan| Some(&plan.id) == default.as_ref());
    Some(PlanCatalog { default: default?, plans })
}

fn read_plan(value: &Value, at: &str, mistakes: &mut Vec<String>) -> Option<Plan> {
    let plan = object(value, at, &["id", "name", "limits", "features"], mistakes)?;
    let is_letter =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    let is_id = |id: &&str| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_letter);
    let id = plan.get("id").and_then(Value::as_str).filter(is_id);
    if id.is_none() {
        let wanted = format!("wants up to {MAX_ID} lower-case letters, digits and hyphens");
        mistakes.push(format!("{at}.id: {wanted}"));
    }
    let is_name = |name: &&str| {
        (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control)
    };
    let name = plan.get("name").and_then(Value::as_str).filter(is_name);
    if name.is_none() {
        mistakes.push(format!("{at}.name: wants 1 to {MAX_NAME} characters"));
    }
    let limits = read_limits(plan.get("limits"), &format!("{at}.limits"), mistakes);
    let features = read_features(plan.get("features"), &format!("{at}.features"), mistakes);
    Some(Plan { id: id?.to_owned(), name: name?.to_owned(), limits: limits?, features: features? })
}

fn read_limits(
    value: Option<&Value>,
    at: &str,
    mistakes: &mut Vec<String>,
) -> Option<[Option<u64>; PlanLimit::ALL.len()]> {
    let names = PlanLimit::ALL.map(PlanLimit::name);
    let limits = object(value.unwrap_or(&Value::Null), at, &names, mistakes)?;
    let mut read = [None; PlanLimit::ALL.len()];
    for limit in PlanLimit::ALL {
        let (least, most) = limit.bounds();
        match limits.get(limit.name()) {
            // A limit that is left out may have been forgotten.
            None => mistakes.push(format!("{at}.{limit}: is missing; null is no limit")),
            Some(Value::Null) => {}
            Some(value) => {
                match value.as_u64().filter(|most_of| (least..=most).contains(most_of)) {
                    Some(number) => read[limit as usize] = Some(number),
                    None => mistakes.push(format!("{at}.{limit}: wants null or {least} to {most}")),
                }
            }
        }
    }
    Some(read)
}

fn read_features(
    value: Option<&Value>,
    at: &str,
    mistakes: &mut Vec<String>,
) -> Option<Vec<PlanFeature>> {
    let Some(names) = value.and_then(Value::as_array) else {
        mistakes.push(format!("{at}: wants a list of features, which may be empty"));
        return None;
    };
    let mut features = Vec::new();
    for name in names {
        let known = PlanFeature::ALL.iter().find(|known| name.as_str() == Some(known.name()));
        if let Some(feature) = known {
            features.push(*feature);
        } else {
            let all = PlanFeature::ALL.map(PlanFeature::name).join(", ");
            mistakes.push(format!("{at}: there is no feature {name}; there are: {all}"));
        }
    }
    Some(features)
}

/// An object with none but these fields.
fn object<'a>(
    value: &'a Value,
    at: &str,
    fields: &[&str],
    mistakes: &mut Vec<String>,
) -> Option<&'a Map<String, Value>> {
    let Some(object) = value.as_object() else {
        mistakes.push(format!("{at}: wants an object with {}", fields.join(", ")));
        return None;
    };
    for field in object.keys().filter(|field| !fields.contains(&field.as_str())) {
        mistakes.push(format!("{at}: there is no field {field}"));
    }
    Some(object)
}
