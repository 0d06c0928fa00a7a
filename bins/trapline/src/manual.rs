//! Manual pages, and completions of the command line for shells: both are made from the commands.

use anyhow::{Context, Result};
use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::{config::Cli, output::print_bytes, version};

/// `trapline man`: prints the manual page of a command, named word by word, or of all together.
///
/// # Errors
///
/// When there is no such command, or the standard output takes nothing.
pub(crate) fn page(words: &[String]) -> Result<()> {
    let mut command = Cli::command();
    // Gives the commands within others their whole names.
    command.build();
    let page = words.iter().try_fold(&command, |command, word| {
        let known = || format!("{word}: there is no such command; `trapline --help` lists them");
        command.find_subcommand(word).with_context(known)
    })?;
    let mut text = Vec::new();
    Man::new(page.clone())
        .date(version::COMMIT_DATE)
        .source(format!("trapline {}", version::VERSION))
        .manual("Trapline")
        .render(&mut text)?;
    Ok(print_bytes(&text)?)
}

/// `trapline completions`: prints what a shell reads to complete commands and flags.
///
/// # Errors
///
/// When the standard output takes nothing.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let generator = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut text = Vec::new();
    clap_complete::generate(generator, &mut Cli::command(), "trapline", &mut text);
    Ok(print_bytes(&text)?)
}

/// A shell that there are completions for.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}
