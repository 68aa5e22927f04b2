/** An error, its causes, and the members of an AggregateError. Each appears once, and there are at most twenty. */
export function chainOf(error: unknown): Error[] {
  const links: Error[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && links.length < 20) {
    const next = waiting.shift();
    if (!(next instanceof Error) || links.includes(next)) continue;
    links.push(next);
    waiting.push(next.cause, ...(next instanceof AggregateError ? next.errors : []));
  }
  return links;
}
