//! Answers for everybody that cost more than they may: one at a time is made, and given out for a
//! while.

use std::time::Duration;

use tokio::sync::Mutex;
use trapline_app::App;
use trapline_model::Time;

use crate::{service::HealthReport, status};

/// How old such an answer may be.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The answers.
#[derive(Default)]
pub(crate) struct AnswerCache {
    pub deep: Cached<HealthReport>,
    /// What is wrong with outbound mail.
    pub mail: Cached<Vec<String>>,
    pub status: Cached<status::StatusAnswers>,
}

/// One answer.
pub(crate) struct Cached<T>(Mutex<Option<(Time, T)>>);

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Cached<T> {
    /// The answer, made anew when it is too old; whoever asks meanwhile waits for it.
    pub(crate) async fn get(&self, app: &App, make: impl AsyncFnOnce(&App) -> T) -> T {
        let mut cached = self.0.lock().await;
        if let Some((made_at, answer)) = &*cached
            && app.now().since(*made_at) < MAX_AGE
        {
            return answer.clone();
        }
        let answer = make(app).await;
        *cached = Some((app.now(), answer.clone()));
        answer
    }
}
