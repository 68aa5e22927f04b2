/** Comparing takes time with every name, and nobody looks for one of so many. */
const mostCompared = 1_000;

/** The name that becomes the other one by changing, adding or removing at most two letters; undefined if there is none. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = names.slice(0, mostCompared).flatMap((known) => {
    const distance = distanceOf(wanted, known.toLowerCase());
    return distance <= (known.length < 5 ? 1 : 2) ? [{ known, distance }] : [];
  });
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.known;
}

/** Some of the names, for a message: `a, b, c, …`. */
export function listNames(names: readonly string[], most = 5): string {
  return names.slice(0, most).join(', ') + (names.length > most ? ', …' : '');
}

/** What to write instead of an unknown name. */
export function suggest(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return names.length === 0 ? '' : `; there are ${listNames(names)}`;
}

/** Levenshtein's distance; 3 where it is more than 2. */
function distanceOf(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2 || b.length > 128) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(3, row[b.length] ?? 3);
}
