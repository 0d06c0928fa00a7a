use super::{meters::CALLS, *};

#[test]
fn options_do_not_show_the_password() {
    let options = RedisOptions {
        url: "redis://:hunter2@localhost".to_owned(),
        namespace: "ns".to_owned(),
        clock: Clock::system(),
    };
    let shown = format!("{options:?}");
    assert!(shown.contains("\"ns\"") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn each_operation_has_its_own_counter() {
    for (index, (operation, name)) in CALLS.into_iter().enumerate() {
        assert_eq!(operation as usize, index, "{name}");
    }
}
