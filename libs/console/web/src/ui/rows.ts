/** Rows that are drawn beyond each edge of the view. */
const BEYOND = 6;

/** Which of `total` rows are to be drawn, where the view begins at `top` and all are `row` high (pixels). */
export function range(top: number, height: number, row: number, total: number) {
  const from = Math.max(0, Math.floor(top / row) - BEYOND);
  const to = Math.min(total, Math.ceil((top + height) / row) + BEYOND);
  return { from: Math.min(from, to), to };
}

/** By how many rows the one at `index` moved down when a list changed; 0 where it is gone. */
export function shifted(before: { id: string }[], after: { id: string }[], index: number): number {
  const id = before[index]?.id;
  const now = id === undefined ? -1 : after.findIndex((row) => row.id === id);
  return now < 0 ? 0 : now - index;
}
