/** Looks again every so many milliseconds while the page is in view; what ends that. */
export function looking(every: number, look: () => void): () => void {
  const seen = () => {
    if (!document.hidden) look();
  };
  const timer = setInterval(seen, every);
  return () => clearInterval(timer);
}
