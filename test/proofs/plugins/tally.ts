/** The results that each kind of step has to have. */
export type Requirements = Readonly<Record<string, readonly ('allowed' | 'refused')[]>>;

/** How often each kind of step was allowed, and how often refused. */
export class Tally {
  readonly #counts = new Map<string, { allowed: number; refused: number }>();

  note(kind: string, isAllowed: boolean): void {
    const counts = this.#counts.get(kind) ?? { allowed: 0, refused: 0 };
    counts[isAllowed ? 'allowed' : 'refused'] += 1;
    this.#counts.set(kind, counts);
  }

  /** What happened less often than it has to, in words: with each result that it has to have, or at all as long as it was allowed. */
  findRare(kinds: Requirements, min: number, results: 'each' | 'allowed'): string[] {
    return Object.entries(kinds).flatMap(([kind, each]) =>
      each
        .filter((result) => results === 'each' || result === 'allowed')
        .flatMap((result) => {
          const times = this.#counts.get(kind)?.[result] ?? 0;
          return times >= min ? [] : [`${kind}: ${result} ${times} times, not ${min}`];
        }),
    );
  }

  describe(): string {
    const lines = [...this.#counts].sort().map(([kind, { allowed, refused }]) => `${kind}: ${allowed} / ${refused}`);
    return `allowed / refused\n${lines.join('\n')}`;
  }
}
