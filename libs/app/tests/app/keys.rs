//! API keys as people manage them.

use trapline_app::{Error, Forbidden, NewKey, Unauthenticated};
use trapline_model::{Access, PersonId, Principal, Role};

use crate::support::Bench;

fn person(bench: &Bench, role: Role) -> Principal {
    Principal::of_person(bench.team, PersonId(uuid::Uuid::from_u128(7)), role)
}

fn new(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), access: Access::Read, expires_at: None, value: None }
}

#[tokio::test]
async fn an_admin_makes_lists_and_revokes_keys() {
    let bench = Bench::new().await;
    let (access, by) = (bench.app.access(), person(&bench, Role::Admin));
    let (made, value) = access.make_key(&by, new("CI")).await.unwrap();
    assert!(value.starts_with(&made.prefix) && value.len() == 35, "{value}");
    assert_eq!(made.created_by.as_ref().unwrap().id, PersonId(uuid::Uuid::from_u128(7)));
    let caller = access.authenticate(&value, None).await.unwrap();
    assert_eq!((caller.team, caller.access), (bench.team, Access::Read));
    let listed = access.list_keys(&by).await.unwrap();
    assert_eq!((listed.len(), &listed[0].id), (2, &made.id));
    assert_eq!(listed[0].last_used_at, Some(bench.clock.now()));
    assert_eq!((&listed[1].name, &listed[1].created_by), (&"First key".to_owned(), &None));
    access.revoke_key(&by, made.id).await.unwrap();
    let again = access.authenticate(&value, None).await;
    assert!(matches!(again, Err(Error::Unauthenticated(Unauthenticated::Unknown))), "{again:?}");
    assert!(matches!(access.revoke_key(&by, made.id).await, Err(Error::NotFound)));
    let told = bench.app.audit().latest(&by).await.unwrap();
    let told: Vec<_> = told.iter().take(2).map(|entry| entry.action.as_str()).collect();
    assert_eq!(told, ["api_key.revoked", "api_key.created"]);
}

#[tokio::test]
async fn nobody_else_makes_keys() {
    let bench = Bench::new().await;
    let (_, value) =
        bench.app.access().make_key(&person(&bench, Role::Owner), new("CI")).await.unwrap();
    let key = bench.app.access().authenticate(&value, None).await.unwrap();
    let by = [
        (person(&bench, Role::Member), Forbidden::AdminRequired),
        (key, Forbidden::PersonRequired),
        (bench.by, Forbidden::PersonRequired),
    ];
    for (by, wanted) in by {
        let made = bench.app.access().make_key(&by, new("No")).await;
        assert!(matches!(made, Err(Error::Forbidden(why)) if why == wanted), "{made:?}");
    }
}

#[tokio::test]
async fn another_team_sees_and_revokes_none_of_ours() {
    let bench = Bench::new().await;
    let (made, _) =
        bench.app.access().make_key(&person(&bench, Role::Admin), new("CI")).await.unwrap();
    let other = bench.app.access().create_team("Other").await.unwrap();
    let theirs = Principal { team: other, ..person(&bench, Role::Owner) };
    assert!(bench.app.access().list_keys(&theirs).await.unwrap().is_empty());
    let revoked = bench.app.access().revoke_key(&theirs, made.id).await;
    assert!(matches!(revoked, Err(Error::NotFound)), "{revoked:?}");
}
