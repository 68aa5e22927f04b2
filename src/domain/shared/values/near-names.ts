/** Names beyond this number are not compared, since each comparison takes time. */
const maxCompared = 1_000;

/** The nearest of the names, if at most two letters differ; undefined if there is none. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = names.slice(0, maxCompared).flatMap((known) => {
    const distance = distanceOf(wanted, known.toLowerCase());
    return distance <= (known.length < 5 ? 1 : 2) ? [{ known, distance }] : [];
  });
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.known;
}

/** Some of the names, for a message: `a, b, c, …`. */
export function listNames(names: readonly string[], max = 5): string {
  return names.slice(0, max).join(', ') + (names.length > max ? ', …' : '');
}

/** A hint for an unknown name: the nearest known name, or a list of the known ones. */
export function suggest(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return names.length === 0 ? '' : `; there are ${listNames(names)}`;
}

/** The Levenshtein distance, or any number above `max` if it is larger. Stopping there keeps it fast for all names. */
function distanceOf(a: string, b: string, max = 2): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const [from, to] = [a.slice(same), b.slice(same)];
  if (from === '' || to === '') return Math.max(from.length, to.length);
  if (max === 0) return 1;
  const [changed, removed, added] = [
    distanceOf(from.slice(1), to.slice(1), max - 1),
    distanceOf(from.slice(1), to, max - 1),
    distanceOf(from, to.slice(1), max - 1),
  ];
  return 1 + Math.min(changed, removed, added);
}
