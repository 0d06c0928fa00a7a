//! Which servers will do.

/// The first version with scheduled messages (ADR-51).
const OLDEST_VERSION: (u32, u32) = (2, 12);

/// Whether a server that calls itself `version` knows scheduled messages; one whose version cannot
/// be read does not.
pub(super) fn suffices(version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return false;
    };
    (major, minor) >= OLDEST_VERSION
}

#[cfg(test)]
mod tests {
    use super::suffices;

    #[test]
    fn compares_by_number() {
        for version in ["2.12.0", "2.12.0-RC.1", "2.15.1", "2.100.3", "3.0.0", "10.1"] {
            assert!(suffices(version), "{version}");
        }
        for version in ["2.11.9", "2.9.10", "2.2.12", "1.15.0", "0.0.0", "", "2", "2.x", "v2.12.0"]
        {
            assert!(!suffices(version), "{version}");
        }
    }
}
