//! Answers for everybody that cost more than they may: one at a time is made, and given out for a
//! while.

use std::time::Duration;

use tokio::sync::Mutex;
use trapline_app::App;
use trapline_model::Time;

use crate::{service::HealthReport, status};

/// How old such an answer may be.
const AGE: Duration = Duration::from_secs(5);

/// The answers.
#[derive(Default)]
pub(crate) struct Recent {
    pub deep: Kept<HealthReport>,
    /// What is wrong with outbound mail.
    pub mail: Kept<Vec<String>>,
    pub status: Kept<status::StatusAnswers>,
}

/// One answer.
pub(crate) struct Kept<T>(Mutex<Option<(Time, T)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Kept<T> {
    /// The answer, made anew when it is too old; whoever asks meanwhile waits for it.
    pub(crate) async fn get(&self, app: &App, make: impl AsyncFnOnce(&App) -> T) -> T {
        let mut kept = self.0.lock().await;
        if let Some((made_at, answer)) = &*kept
            && app.now().since(*made_at) < AGE
        {
            return answer.clone();
        }
        let answer = make(app).await;
        *kept = Some((app.now(), answer.clone()));
        answer
    }
}
